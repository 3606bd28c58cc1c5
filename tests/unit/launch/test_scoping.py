"""Options of one protocol among the cells of several."""

from attnlab.launch.scoping import without_others_options

EPSILON = "protocols.adversarial_attention.epsilon=0.1"


def test_an_option_reaches_the_cells_of_its_protocol_alone():
    jobs = [
        [f"protocol={names}", EPSILON, "seed=0"] for names in ("[permutation]", "[predictions,adversarial_attention]")
    ]
    assert without_others_options(jobs) == [["protocol=[permutation]", "seed=0"], jobs[1]]


def test_what_no_cell_measures_by_stays_to_be_refused():
    jobs = [["protocol=permutation", EPSILON], ["protocol=[predictions]", "+protocols.typo.seed=3"], [EPSILON]]
    assert without_others_options(jobs) == jobs


def test_the_last_choice_counts():
    jobs = [["protocol=adversarial_attention", "protocol=permutation", EPSILON], ["protocol=adversarial_attention"]]
    assert without_others_options(jobs)[0] == jobs[0][:2]

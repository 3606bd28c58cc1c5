"""The site of ``attnlab report --html`` in a real browser, opened from the disk."""

import json
import re
import shutil

import numpy as np
import pytest

from tests.unit.report.conftest import make_job, outputs
from tests.unit.report.site.written import NASTY, PROTOCOLS, make_records, write_store

__all__ = ["make_job", "outputs"]

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs Debian's chromium and chromium-driver")

N = 3000


@pytest.fixture
def browser():
    """A headless Chromium that logs what its pages print and load."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(20)
    yield driver
    driver.quit()


@pytest.fixture
def site(outputs, make_job, capsys):
    """A site of N instances with its records and the model's key."""
    from attnlab.report.command import main

    job, tables = make_job(PROTOCOLS), make_records(N)
    write_store(job, tables)
    assert main(["--html", "site"]) == 0
    assert capsys.readouterr().out == "site/index.html\n"
    return outputs.parent / "site", tables


def _wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 20, poll_frequency=0.05).until(lambda driver: driver.execute_script(condition))


def _text(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def _ids(browser):
    return browser.execute_script("return [...document.querySelectorAll('.row b')].map((e) => e.textContent)")


def _opened(browser, name):
    _wait(browser, f"return document.querySelector('#instance h2')?.textContent === '{name}'")


def _choose(browser, control, value):
    from selenium.webdriver.support.ui import Select

    Select(browser.find_element("id", control)).select_by_value(value)


def _requests(browser):
    """Addresses that pages asked for, as the browser's own network log has them."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def test_instances_are_sorted_filtered_searched_and_opened(browser, site):
    folder, tables = site
    records = {protocol: table.to_pandas().set_index("id") for protocol, table in tables.items()}
    browser.get((folder / "index.html").as_uri())
    assert _text(browser, "a[href$='#permutation-test'] b") == f"{records['permutation'].median_tvd.mean():.2f}"[1:]
    browser.find_element("css selector", "a[href$='#permutation-test']").click()
    browser.find_element("css selector", ".actions a").click()

    # Text of the data set stays text, whatever it holds.
    _opened(browser, "test-0")
    assert _text(browser, ".verdict").endswith(f", {len(NASTY[0])} words")
    panels = "return [...document.querySelectorAll('.panel')].map((p) => [...p.querySelectorAll('.tokens span')]"
    assert browser.execute_script(f"{panels}.map((s) => s.textContent))") == [NASTY[0]] * 2  # no adversary: not joined
    assert "broken" not in browser.title
    assert not browser.execute_script("return document.querySelector('main script, main img')")
    weights = browser.execute_script(f"{panels}.map((s) => +s.style.getPropertyValue('--w')))[0]")
    attention = records["predictions"].attention["test-0"]
    np.testing.assert_allclose(weights, attention / attention.max(), atol=6e-4)

    _choose(browser, "sort", "gradient_correlation.tau")
    lowest = records["gradient_correlation"].tau.astype(float).sort_values(kind="stable")
    _opened(browser, lowest.index[N - 2])  # the last of all has no value
    browser.find_element("id", "order").click()
    _opened(browser, lowest.index[0])
    assert _ids(browser) == list(lowest.index[: len(_ids(browser))])
    assert len(_ids(browser)) < 40  # of 3,000, those in view

    _choose(browser, "label", "1")
    _choose(browser, "outcome", "wrong")
    _choose(browser, "where", "permutation.flip_share")
    kept = records["predictions"].query("label == 1 and prediction == 0").index
    kept = [i for i in lowest.index if i in set(kept) and records["permutation"].flip_share[i] > 0]
    _wait(browser, f"return document.getElementById('status').textContent === '{len(kept)} of 3,000 instances'")
    assert _ids(browser) == kept[: len(_ids(browser))]

    for control in ("label", "outcome", "where"):
        _choose(browser, control, "")
    browser.find_element("id", "search").send_keys("Text number77")
    found = [i for i in lowest.index if records["predictions"].tokens[i][-1].startswith("number77")]
    _wait(browser, f"return document.getElementById('status').textContent === '{len(found)} of 3,000 instances'")
    assert _ids(browser) == found[: len(_ids(browser))]
    assert [m for m in browser.get_log("browser") if m["level"] in ("SEVERE", "WARNING")] == []
    asked = _requests(browser)
    assert any("scores-" in address for address in asked)
    assert all(address.startswith((folder.as_uri(), "data:")) for address in asked), asked


def test_everything_is_reached_by_the_keyboard_and_by_its_address(browser, site):
    from selenium.webdriver.common.keys import Keys

    folder, tables = site
    (page,) = (folder / "instances").iterdir()
    browser.get(f"{page.as_uri()}#sort=permutation.median_tvd&order=up")
    ordered = list(tables["permutation"].sort_by("median_tvd")["id"].to_pylist())
    _opened(browser, ordered[0])
    body = browser.find_element("tag name", "body")
    body.send_keys("jjj")
    _opened(browser, ordered[3])
    body.send_keys("k")
    _opened(browser, ordered[2])
    assert f"id={ordered[2]}" in browser.current_url
    active = browser.find_element("id", "list")
    active.send_keys(Keys.END)
    _opened(browser, ordered[-1])
    selected = active.get_attribute("aria-activedescendant")
    assert browser.find_element("id", selected).get_attribute("aria-selected") == "true"
    assert browser.find_element("id", selected).get_attribute("aria-posinset") == str(N)
    active.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "instance"
    browser.switch_to.active_element.send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "search"
    browser.switch_to.active_element.send_keys("test-3", Keys.ESCAPE)
    assert browser.switch_to.active_element.get_attribute("id") == "list"

    found = sum("test-3" in name for name in tables["predictions"]["id"].to_pylist())
    _wait(browser, f"return document.getElementById('status').textContent === '{found:,} of 3,000 instances'")

    # A text from right to left, and one of 4,000 tokens.
    browser.get(f"{page.as_uri()}#id=test-1")
    _opened(browser, "test-1")
    direction = "return getComputedStyle(document.querySelector('.tokens')).direction"
    assert browser.execute_script(direction) == "rtl"
    browser.get(f"{page.as_uri()}#id=test-3")
    _opened(browser, "test-3")
    assert browser.execute_script("return document.querySelectorAll('.tokens span:not(.block)').length") == 3 * 4000
    first = browser.find_element("css selector", ".tokens")
    first.send_keys(Keys.ARROW_RIGHT)
    first.send_keys(Keys.ARROW_RIGHT)
    value = tables["predictions"]["attention"][3][1].as_py()
    told = re.search(r"word1Attention ([\d.e−]+)", _text(browser, "#readout")).group(1)
    assert float(told.replace("−", "-")) == pytest.approx(value, rel=0.05)
    assert [m for m in browser.get_log("browser") if m["level"] in ("SEVERE", "WARNING")] == []

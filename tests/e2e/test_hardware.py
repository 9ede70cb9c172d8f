"""The hardware page as a person sees it: deep links, choices, tabs, hovers, hall and dark."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .conftest import READY, Explorer


def test_a_deep_link_is_the_first_request(browser, fresh_server):
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    explorer = Explorer(page, fresh_server)
    explorer.open("/hardware?operator=rms_norm&rows=6&columns=4096&gpu=RTX+3090")
    explorer.says("a thread holds 16 elements of x, 16 bytes at a time")
    expect(page.locator("body")).to_contain_text("RTX 3090 · 82 SMs · not attached")
    assert not page.locator("[data-testid=stException]").count()
    explorer.at("gpu=RTX+3090")
    page.context.close()


def test_the_two_pictures_fit_a_laptop_without_scrolling(explorer):
    explorer.open("/hardware")
    box = explorer.page.locator(".st-key-owners").bounding_box()
    assert box["y"] + box["height"] < 800
    assert explorer.page.locator("[data-testid=stTab]").first.bounding_box()["y"] < 800


def test_typing_a_size_that_16_does_not_divide_makes_loads_scalar(explorer):
    explorer.open("/hardware?n_elements=1048576")
    explorer.says("16 bytes with one instruction: 4 elements at a time")
    explorer.type("n_elements", 1048575)
    explorer.says("4 bytes with one instruction: one element at a time")
    explorer.says("n_elements = 1,048,575: not divisible by 16.")
    explorer.at("n_elements=1048575")


def test_colours_tensors_and_patterns_are_in_the_link(explorer):
    explorer.open("/hardware?n_elements=1048576")
    explorer.page.get_by_role("radio", name="by register").click()
    explorer.at("colour=register").ready()
    explorer.page.get_by_role("radio", name="every second").click()
    explorer.says("Modelled: the same threads, one element at a time")
    explorer.at("pattern=second").at("colour=register")
    explorer.page.get_by_role("radio", name="warp 3").click()
    explorer.says("What warp 3 of program 0 asks of x")
    explorer.type("num_warps", 2).at("num_warps=2").at("colour=register")


def test_hovering_an_element_names_its_thread_and_register(explorer):
    explorer.open("/hardware?n_elements=1048576")
    picture = explorer.page.locator(".st-key-owners .nsewdrag").first
    explorer.hover(picture, (1, picture.bounding_box()["height"] * 0.55))
    hover = explorer.page.locator(".st-key-owners .hoverlayer .hovertext").first.evaluate("e => e.textContent")
    assert re.search(r"element 512.*warp 0, lane 0: thread 0.*in its register 4", hover), hover


def test_another_gpu_has_other_numbers(explorer):
    explorer.open("/hardware?operator=softmax&rows=4096&columns=4096")
    before = explorer.texts()
    explorer.page.get_by_role("combobox", name="GPU").click()
    explorer.page.get_by_role("option", name="T4").click()
    explorer.says("T4 · 40 SMs · not attached")
    assert explorer.texts() != before
    explorer.at("gpu=T4")


def test_occupancy_curves_are_compiled_while_the_page_lives(explorer):
    explorer.open("/hardware?n_elements=65536")
    explorer.page.get_by_role("tab", name="What fits on an SM").click()
    explorer.says("What stops one more")
    explorer.page.wait_for_selector(".st-key-curve-num_warps .main-svg")
    explorer.says("Occupancy over BLOCK_SIZE")


def test_a_matmuls_waves_are_played_in_the_browser(explorer):
    explorer.open("/hardware?operator=matmul_relu")
    explorer.says("Tiles that run at one time")
    explorer.says("a wave needs 37% less than row by row")
    figure = explorer.page.locator(".st-key-footprint")
    expect(figure).to_contain_text("wave 1: 8 + 33 strips")
    figure.get_by_text("▶ play").click()
    expect(figure).not_to_contain_text("wave 1:")


def test_the_factory_is_one_toggle_away(explorer):
    explorer.open("/hardware")
    tab = explorer.page.get_by_role("tab", name="The GPU")  # above the tabs where no schedule is to be drawn
    if tab.count():
        tab.click()
    explorer.says("GPU: 132 multiprocessors (SMs)")
    explorer.page.get_by_role("radio", name="the factory").click()
    explorer.says("the factory: 132 floors")
    explorer.at("picture=factory").says("wait for each other at lunch: a barrier")


def test_dark_in_a_hall(browser, server):
    context = browser.new_context(viewport={"width": 1920, "height": 1080}, color_scheme="dark")
    explorer = Explorer(context.new_page(), server)
    explorer.open("/hardware?operator=matmul_relu")
    assert explorer.page.locator(READY).count()
    assert not explorer.page.locator("[data-testid=stException]").count()
    assert not explorer.outside
    size = explorer.page.locator(".story").evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert size > 28
    context.close()

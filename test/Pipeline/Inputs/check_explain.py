"""Whether the page of `attnc explain`, as text and as JSON, is complete and adds up, and every key of the JSON documented:
check_explain.py TEXT JSON DOCUMENT
"""

import json
import re
import sys


def check(condition, message):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {message}")


def check_function(function, text):
    name = function["function"]
    threads = function.get("threads")
    cores = "" if threads is None else f", {threads} thread" if threads == 1 else f", {threads} threads"
    check(f"@{name} on {function['device']}{cores}: " in text, f"@{name} has no headline")
    kernels = function["kernels"]
    check(kernels, f"@{name} has no kernels")
    for kernel in kernels:
        work = kernel["work"]
        check(kernel["seconds"] > 0, f"{kernel['kernel']} takes no time")
        check(work["main_bytes"] > 0, f"{kernel['kernel']} moves no bytes")
        check(work["multiply_adds"] + work["elementwise"] > 0, f"{kernel['kernel']} does nothing")
        row = rf"^  {re.escape(kernel['kernel'])} +{re.escape(kernel.get('of', ''))} "
        check(re.search(row, text, re.MULTILINE), f"{kernel['kernel']} is not in the text")
    for figure in ("multiply_adds", "exps", "main_bytes", "launches"):
        total = sum(kernel["work"][figure] for kernel in kernels)
        check(abs(total - function["work"][figure]) <= 1e-9 * total, f"{figure} of the kernels do not add up")
    seconds = sum(kernel["seconds"] for kernel in kernels)
    check(abs(seconds - function["seconds"]) <= 1e-9 * seconds, "times of the kernels do not add up")
    check(function["plans"], f"@{name} has no plan")
    for plan in function["plans"]:
        check(f"@{plan['function']}" in text, f"plan {plan} is not in the text")
    check_decisions(function["decisions"], text)
    for attention in function["single_form"]:
        check(attention in text, f"{attention} is not in the text")
    check(function["decisions"] or function["single_form"], "no attention is accounted for")


def check_decisions(decisions, text):
    """Each form with its price and the reason, or as not possible with the reason; what has one form only needs no row."""
    names = [choice_of(decision) for decision in decisions]
    open_choices = {name for name in names
                    if sum(each == name and decision["possible"] for each, decision in zip(names, decisions)) > 1}
    for name, decision in zip(names, decisions):
        check(decision["reason"], f"{decision} has no reason")
        if decision["possible"] and name not in open_choices:
            continue
        check(f"{name}: {decision['form']}" in text, f"{decision} is not in the text")
        check(decision["reason"] in text, f"the reason of {decision} is not in the text")


def choice_of(decision):
    name = f"{decision['law']} {decision['of']}" if "of" in decision else decision["law"]
    return f"part{decision['part']} {name}" if "part" in decision else name


def keys_of(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from keys_of(each)


def check_plans(function):
    """The taken plan and those that were not, and the curves of both."""
    curves = {curve["name"]: dict(zip(curve["lengths"], curve["seconds"])) for curve in function["curves"]}
    at = function["length"]
    for length, seconds in curves["taken"].items():
        check(length != at or abs(seconds - function["seconds"]) <= 1e-9 * seconds, "the curve has another price")
    check(("exact softmax" in curves) == ("exact_softmax" in function), "the curve of exact softmax is missing")
    prices = [plan["seconds"] for plan in function["rejected"]]
    check(prices == sorted(prices) and len(prices) <= 10, "rejected plans are not in order")
    check(function["complete"] and function["priced"] <= 1024, f"{function['priced']} plans are too many to price them all")
    check(len(prices) == min(function["priced"] - 1, 10), f"{len(prices)} plans of {function['priced']} were not taken")
    pinned = any(decision["pinned"] for decision in function["decisions"])
    # A plan that is cheaper by less than one part in a hundred may give way where lengths are unknown.
    margin = 0.98 if function["unknown_lengths"] else 1
    check(pinned or not prices or prices[0] >= margin * function["seconds"], "a cheaper plan was rejected")


def main():
    with open(sys.argv[1]) as file:
        text = file.read()
    with open(sys.argv[2]) as file:
        page = json.load(file)
    functions = page["functions"]
    with open(sys.argv[3]) as file:
        document = file.read()
    for key in set(keys_of(page)):
        check(f"`{key}`" in document, f"key {key} is not documented in {sys.argv[3]}")
    check(functions, "no functions")
    for function in functions:
        check_function(function, text)
        check_plans(function)


main()

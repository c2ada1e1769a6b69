"""Whether the page of `attnc explain`, as text and as JSON, is complete and adds up: check_explain.py TEXT JSON."""

import json
import sys


def check(condition, message):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {message}")


def check_function(function, text):
    name = function["function"]
    check(f"@{name} on {function['device']}: " in text, f"@{name} has no headline")
    kernels = function["kernels"]
    check(kernels, f"@{name} has no kernels")
    for kernel in kernels:
        work = kernel["work"]
        check(kernel["seconds"] > 0, f"{kernel['kernel']} takes no time")
        check(work["main_bytes"] > 0, f"{kernel['kernel']} moves no bytes")
        check(work["multiply_adds"] + work["elementwise"] > 0, f"{kernel['kernel']} does nothing")
        check(f"  {kernel['kernel']} " in text, f"{kernel['kernel']} is not in the text")
    for figure in ("multiply_adds", "exps", "main_bytes", "launches"):
        total = sum(kernel["work"][figure] for kernel in kernels)
        check(abs(total - function["work"][figure]) <= 1e-9 * total, f"{figure} of the kernels do not add up")
    seconds = sum(kernel["seconds"] for kernel in kernels)
    check(abs(seconds - function["seconds"]) <= 1e-9 * seconds, "times of the kernels do not add up")
    check(function["plans"], f"@{name} has no plan")
    for plan in function["plans"]:
        check(f"plan: {plan['form']}" in text or f"@{plan['function']}" in text, f"plan {plan} is not in the text")
    for decision in function["decisions"]:
        law = f"{decision['law']} {decision['of']}" if "of" in decision else decision["law"]
        check(f"{law}: {decision['form']}" in text, f"{decision} is not in the text")
        check(decision["reason"] and decision["reason"] in text, f"{decision} has no reason")
    for attention in function["single_form"]:
        check(attention in text, f"{attention} is not in the text")
    check(function["decisions"] or function["single_form"], "no attention is accounted for")


def main():
    with open(sys.argv[1]) as file:
        text = file.read()
    with open(sys.argv[2]) as file:
        functions = json.load(file)["functions"]
    check(functions, "no functions")
    for function in functions:
        check_function(function, text)


main()

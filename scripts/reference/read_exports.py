"""Reads what `errata evaluate --out FOLDER` writes with Ragas and DeepEval themselves, and compares Ragas' id-based context
precision and recall with ours, case by case.

    pip install ragas==0.4.3 langchain-community==0.3.31 deepeval==4.3.1
    python scripts/reference/read_exports.py FOLDER

Ends with code 1 where a file is not read, a case is missing or a figure differs by more than 1e-6. Not part of the tests: the two
packages bring about 150 others.
"""
import asyncio
import json
import math
import os
import sys
from pathlib import Path

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")

TOLERANCE = 1e-6


def check_ragas(folder, cases):
    from ragas import EvaluationDataset
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall

    samples = EvaluationDataset.from_jsonl(folder / "ragas.jsonl").samples
    assert len(samples) == len(cases), f"{len(samples)} samples, {len(cases)} cases"
    compared = 0
    worst = 0.0
    for metric, ours in ((IDBasedContextPrecision(), "contextPrecision"), (IDBasedContextRecall(), "contextRecall")):
        for sample, case in zip(samples, cases):
            mine = case["measures"].get(ours)
            if mine is None:
                continue
            theirs = asyncio.run(metric.single_turn_ascore(sample))
            # Of an empty answer Ragas' precision is not a number; ours is 0.
            theirs = 0.0 if math.isnan(theirs) else theirs
            worst = max(worst, abs(theirs - mine))
            compared += 1
    print(f"ragas: {len(samples)} samples read, {compared} figures compared, largest difference {worst:.2e}")
    return compared > 0 and worst <= TOLERANCE


def check_deepeval(folder, cases):
    from deepeval.dataset import EvaluationDataset

    dataset = EvaluationDataset()
    dataset.add_test_cases_from_json_file(
        file_path=str(folder / "deepeval.json"),
        input_key_name="input",
        actual_output_key_name="actual_output",
        expected_output_key_name="expected_output",
        context_key_name="context",
        retrieval_context_key_name="retrieval_context",
    )
    right = [
        test.input == case["query"] and len(test.retrieval_context or []) == len(case["answered"])
        for test, case in zip(dataset.test_cases, cases)
    ]
    print(f"deepeval: {len(dataset.test_cases)} test cases read, {sum(right)} as written")
    return len(dataset.test_cases) == len(cases) and all(right)


def main():
    folder = Path(sys.argv[1])
    cases = json.loads((folder / "report.json").read_text())["cases"]
    sys.exit(0 if all([check_ragas(folder, cases), check_deepeval(folder, cases)]) else 1)


if __name__ == "__main__":
    main()

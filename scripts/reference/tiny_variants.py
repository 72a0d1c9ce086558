"""fp16 and int8 weights of tiny-bert-cls, as publishers lay them beside model.onnx, for test/adapters/onnx/variants.test.ts.

    pip install onnx onnxruntime onnxconverter-common
    python scripts/reference/tiny_variants.py test/fixtures/models/tiny-bert-cls

int8 is dynamically quantised, so that its vectors depend on their batch mates; fp16 has float16 outputs.
"""
import sys
from pathlib import Path

import onnx
from onnxconverter_common import float16
from onnxruntime.quantization import QuantType, quantize_dynamic

folder = Path(sys.argv[1]) / "onnx"
model = onnx.load(folder / "model.onnx")
onnx.save(float16.convert_float_to_float16(model), folder / "model_fp16.onnx")
quantize_dynamic(folder / "model.onnx", folder / "model_quantized.onnx", weight_type=QuantType.QInt8)

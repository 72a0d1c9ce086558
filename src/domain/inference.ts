/** What runs a local model, by the names that ONNX Runtime gives them; `dml` is DirectML. */
export const EXECUTION_PROVIDERS = ['cpu', 'cuda', 'tensorrt', 'dml', 'coreml'] as const;
export type ExecutionProvider = (typeof EXECUTION_PROVIDERS)[number];

/**
 * What may be given up for larger runs of a model: nothing (`exact`: texts share a run only where each gets the bits that it has
 * alone), the last bits of a vector (`close`), or there are none (`off`).
 */
export const BATCH_WISHES = ['exact', 'close', 'off'] as const;
export type BatchWish = (typeof BATCH_WISHES)[number];

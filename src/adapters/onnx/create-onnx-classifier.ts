import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import type { TextClassifier } from '../../ports/text-classifier.js';
import { createOnnxReranker, type OnnxRerankerOptions } from './create-onnx-reranker.js';

const configSchema = z.looseObject({ id2label: z.record(z.string(), z.string()).optional() });
/** What publishers call the class that is looked for, and the other one. Looked for in this order: "unsafe" holds "safe". */
const ATTACK =
  /inject|jailbreak|attack|malicious|unsafe|harm|adversarial|suspicious|^(?:yes|true|positive|label_1)$/iu;
const ORDINARY = /safe|benign|legit|ordinary|normal|clean|^(?:no|false|negative|label_0)$/iu;

/**
 * Opens a published sequence classifier of two labels (or one logit) as a signal of the injection screen. Which label is the attack is
 * read from `id2label` of its config.json: by name, `LABEL_1` where the names say nothing.
 *
 * Errors: as `createOnnxReranker`; `MODEL_UNAVAILABLE` where the labels do not tell.
 */
export async function createOnnxClassifier(
  options: Omit<OnnxRerankerOptions, 'alone'>,
): Promise<TextClassifier> {
  const sign = signOf(join(options.modelDir, 'config.json'), options.manifestEntry.logits);
  const model = await createOnnxReranker({ ...options, alone: true });
  return {
    modelId: model.modelId,
    attackLogOdds: async (texts) => (await model.rerank('', texts)).map((logOdds) => sign * logOdds),
    close: () => model.close(),
  };
}

/** 1 where a greater logit (of two, the second) speaks for an attack. */
function signOf(configFile: string, logits: 1 | 2): 1 | -1 {
  const { data } = configSchema.safeParse(JSON.parse(readFileSync(configFile, 'utf8')));
  const names = Object.entries(data?.id2label ?? {})
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, name]) => name);
  if (logits === 1) return names[0] === undefined || !isOrdinary(names[0]) ? 1 : -1;
  const [first = 'LABEL_0', second = 'LABEL_1'] = names;
  if (ATTACK.test(second) && !ATTACK.test(first)) return 1;
  if (ATTACK.test(first) && !ATTACK.test(second)) return -1;
  if (isOrdinary(first) !== isOrdinary(second)) return isOrdinary(first) ? 1 : -1;
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    'Expected labels of which one says that it is the attack for id2label in config.json, received others',
  );
}

function isOrdinary(name: string): boolean {
  return ORDINARY.test(name) && !ATTACK.test(name);
}

// Fits match score and late interaction of the embedding model in use on the tuning half of the sample and writes
// calibration/MODEL.json; shows by cross-validation on the same half what each part of late interaction brings.
// For maintainers: after a change of features, of the sample, or of the model. Needs a built dist and the pulled model.
import { rmSync, writeFileSync } from 'node:fs';
import { fitSample } from '../dist/app/evaluate-sample.js';
import { fittedScoreFile } from '../dist/app/installation.js';
import { parseConfig } from '../dist/config/parse-config.js';

const config = parseConfig({ env: process.env });
// One that was made for other features would be refused.
rmSync(fittedScoreFile(config.embedder), { force: true });
const { fitted, crossValidated } = await fitSample(config);
writeFileSync(fittedScoreFile(config.embedder), `${JSON.stringify(fitted, undefined, 2)}\n`);
const { lateInteraction, ...rest } = fitted;
console.dir({ ...rest, lateInteraction: { ...lateInteraction, centre: '…' } }, { depth: 4 });
console.table(
  crossValidated.map(({ without, ...figures }) => ({
    without,
    ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, value.toFixed(3)])),
  })),
);

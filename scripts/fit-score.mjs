// Fits the match score of the default embedding model on the tuning half of the sample and writes calibration/MODEL.json.
// For maintainers: after a change of features, of the sample, or of the model. Needs a built dist and the pulled model.
import { writeFileSync } from 'node:fs';
import { fitSample } from '../dist/app/evaluate-sample.js';
import { fittedScoreFile } from '../dist/app/installation.js';
import { parseConfig } from '../dist/config/parse-config.js';

const config = parseConfig({ env: process.env });
const fitted = await fitSample(config);
writeFileSync(fittedScoreFile(config.embedder), `${JSON.stringify(fitted, undefined, 2)}\n`);
const { lateInteraction, ...rest } = fitted;
console.log({ ...rest, lateInteraction: { ...lateInteraction, centre: '…' } });

import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ErrataError } from '../domain/errors.js';
import { type InstalledModel, installedModel } from './installed-models.js';
import type { ModelEntry, ModelFile, ModelManifest, Precision } from './manifest-schema.js';
import { PRECISIONS } from './manifest-schema.js';
import { pinsOf } from './pins.js';
import { readPublishedConfig } from './published-config.js';

/** File names under `onnx/` (or beside config.json) that publishers give the weights of a precision, best first. */
const WEIGHTS: Readonly<Record<Precision, RegExp>> = {
  fp32: /^model\.onnx$/,
  fp16: /^model_(fp16|float16)\.onnx$/,
  int8: /^model_(quantized|int8|uint8|q?u?int8_.*)\.onnx$/,
};

/** A name with a slash or backslash, or that starts with a dot, is a place; others are names of models.json. */
export function isDirectoryName(name: string): boolean {
  return /[/\\]|^\./.test(name);
}

/**
 * A model by name, or the published directory at a place (`./my-model`, `./my-model:int8`).
 *
 * Errors: `UNKNOWN_MODEL`, `MODEL_NOT_INSTALLED`; `MODEL_UNAVAILABLE` for a directory that does not say what must be known.
 */
export async function findModel(
  name: string,
  options: { cacheDir: string; manifest?: ModelManifest | undefined },
): Promise<InstalledModel> {
  if (!isDirectoryName(name)) return installedModel(name, options);
  const precision = PRECISIONS.find((one) => name.endsWith(`:${one}`));
  const place = resolve(precision === undefined ? name : name.slice(0, -precision.length - 1));
  return { entry: await readModelDirectory(place, precision), directory: place };
}

/**
 * Reads a directory in the layout of the Hugging Face hub: config.json, tokenizer.json, `onnx/` and, for embedders,
 * modules.json and 1_Pooling/config.json. Its digests are taken as they are (the model's id changes with them).
 */
export async function readModelDirectory(
  directory: string,
  precision: Precision | undefined,
): Promise<ModelEntry> {
  if (!existsSync(directory))
    throw new ErrataError('MODEL_NOT_INSTALLED', 'Expected a model directory, received a place without one');
  const published = readPublishedConfig(directory);
  if (!existsSync(join(directory, 'tokenizer.json')))
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      'Expected tokenizer.json in the model directory, received none',
    );
  const weights = await findWeights(directory, precision);
  const roles = new Map<string, ModelFile['role']>([
    [weights.path, 'weights'],
    ...weights.data.map((path): [string, ModelFile['role']] => [path, 'weights-data']),
    ['tokenizer.json', 'tokenizer'],
  ]);
  const pins = await pinsOf(directory, [...roles.keys()]);
  const files = [...roles].flatMap(([path, role]): ModelFile[] => {
    const pin = pins[path];
    return pin === undefined ? [] : [{ path, role, ...pin }];
  });
  const shared = {
    name: basename(directory),
    licence: 'as published',
    precision: weights.precision,
    dynamicQuantisation: weights.precision === 'int8',
    files,
    sources: [],
  };
  return { ...shared, ...published };
}

async function findWeights(directory: string, wanted: Precision | undefined) {
  const folders = ['onnx', '.'].filter((folder) => existsSync(join(directory, folder)));
  const found: { path: string; name: string; folder: string }[] = [];
  for (const folder of folders)
    for (const name of (await readdir(join(directory, folder))).sort())
      if (name.endsWith('.onnx'))
        found.push({ path: folder === '.' ? name : `${folder}/${name}`, name, folder });
  const precisionOf = (name: string) => PRECISIONS.find((one) => WEIGHTS[one].test(name));
  const fitting = found.filter(({ name }) =>
    wanted === undefined ? precisionOf(name) : WEIGHTS[wanted].test(name),
  );
  // Without a wish: the plain file, else the only one.
  const chosen =
    wanted === undefined
      ? (fitting.find(({ name }) => name === 'model.onnx') ?? (fitting.length === 1 ? fitting[0] : undefined))
      : fitting[0];
  const precision = chosen === undefined ? undefined : precisionOf(chosen.name);
  if (chosen === undefined || precision === undefined)
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      `Expected ${wanted ?? 'one file of'} ONNX weights in onnx/, received ${found.map(({ path }) => path).join(', ') || 'none'}`,
    );
  const beside = await readdir(join(directory, chosen.folder));
  const data: string[] = [];
  for (const name of beside.filter((one) => one === `${chosen.name}_data` || one === `${chosen.name}.data`))
    if ((await stat(join(directory, chosen.folder, name))).isFile())
      data.push(chosen.folder === '.' ? name : `${chosen.folder}/${name}`);
  return { path: chosen.path, precision, data };
}

#!/usr/bin/env node
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { loadAddon } from '../adapters/native/load-addon.js';
import type { CliDeps } from '../cli/cli-deps.js';
import { processTerminal } from '../cli/process-terminal.js';
import { runCli } from '../cli/run-cli.js';
import { modelFiles } from './model-files.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Each command loads only what it needs: `errata --help` must not wait for GraphQL and ONNX Runtime. */
const deps: CliDeps = {
  version,
  openApp: async (config, options) => (await import('./open-app.js')).openApp(config, options),
  serve: async (config, options) => (await import('./serve.js')).serve(config, { ...options, version }),
  models: modelFiles,
  evaluate: async (request) => (await import('./evaluate-sample.js')).evaluateSample(request),
  benchModel: async (request) => (await import('./bench-models.js')).benchModel(request),
  sweep: async (request) => (await import('./sweep-sample.js')).sweepSample(request),
  guardReport: async (request) => (await import('./guard-reports.js')).guardReport(request),
  emitSchema: async () => (await import('../graphql/emit-schema.js')).emitSchema(),
  loadAddon: () => {
    const addon = loadAddon();
    return {
      file: 'build/Release/errata_native.node',
      isa: addon.isa(),
      availableIsas: addon.availableIsas(),
    };
  },
};

process.exitCode = await runCli(process.argv.slice(2), deps, processTerminal());

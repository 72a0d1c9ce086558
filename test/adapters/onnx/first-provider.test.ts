import { describe, expect, it } from 'vitest';
import { firstProvider } from '../../../src/adapters/onnx/first-provider.js';
import type { ExecutionProvider } from '../../../src/domain/inference.js';

/** A runtime of which only these providers work. */
const runtimeWith =
  (...working: ExecutionProvider[]) =>
  async (provider: ExecutionProvider) => {
    if (working.includes(provider)) return `session on ${provider}`;
    throw new Error(`no device for\n   ${provider}`);
  };

describe('firstProvider', () => {
  it('takes the first that opens, and says why those before it did not', async () => {
    const found = await firstProvider(['tensorrt', 'cuda', 'cpu'], runtimeWith('cuda', 'cpu'));
    expect(found).toEqual({
      opened: 'session on cuda',
      provider: 'cuda',
      refused: [{ provider: 'tensorrt', reason: 'no device for tensorrt' }],
    });
    expect(await firstProvider(['cpu', 'cuda'], runtimeWith('cuda', 'cpu'))).toMatchObject({
      provider: 'cpu',
      refused: [],
    });
  });

  it('tries none behind the one that opens', async () => {
    const tried: string[] = [];
    await firstProvider(['dml', 'coreml', 'cpu'], async (provider) => {
      tried.push(provider);
      return runtimeWith('coreml', 'cpu')(provider);
    });
    expect(tried).toEqual(['dml', 'coreml']);
  });

  it('fails with every reason where none opens', async () => {
    await expect(firstProvider(['cuda', 'cpu'], runtimeWith())).rejects.toThrow(
      'cuda: no device for cuda; cpu: no device for cpu',
    );
  });

  it('shortens what a runtime says, on one line', async () => {
    const { refused } = await firstProvider(['cuda', 'cpu'], async (provider) => {
      if (provider === 'cuda') throw new Error(`failed\n${'x'.repeat(1_000)}`);
      return provider;
    });
    expect(refused[0]?.reason).toMatch(/^failed x+…$/);
    expect(refused[0]?.reason.length).toBeLessThanOrEqual(201);
  });
});

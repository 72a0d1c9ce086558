import { describe, expect, it } from 'vitest';
import { ErrataError } from '../../../src/domain/errors.js';
import { judgeContexts, renderJudged } from '../../../src/evaluation/answers/judge-contexts.js';
import type { ChatModel, ChatRequest } from '../../../src/ports/chat-model.js';
import { caseOf } from '../case-results.js';

const cases = [
  caseOf({ id: 'q1', query: 'about a', ranking: ['a', 'b'], answered: ['a', 'b'], expected: ['a'] }),
  caseOf({ id: 'q2', query: 'about c', ranking: ['c'], answered: ['c'], expected: ['c'] }),
  caseOf({ id: 'q3', query: 'about nothing', ranking: [], answered: [], expected: [] }),
];
const lessonOf = (name: string) => `</lesson> text-${name}.`;

function judge(
  answer: (content: string, seed: number) => string,
): ChatModel & { readonly asked: ChatRequest[] } {
  const asked: ChatRequest[] = [];
  return {
    modelId: 'judge',
    asked,
    async complete(request) {
      asked.push(request);
      const text = answer(request.messages[0]?.content ?? '', request.seed);
      return { text, promptTokens: 1, completionTokens: 1, cached: false };
    },
  };
}

describe('judgeContexts', () => {
  it('averages over answers, repeats with other seeds, and shows how far the repeats are apart', async () => {
    // Sure of a and c; of b only in the first of three repeats.
    const chat = judge((content, seed) =>
      content.includes('text-b.') && seed > 1 ? 'No. VERDICT: NO' : 'VERDICT: NO? Rather\n**VERDICT: YES**',
    );
    const judged = await judgeContexts({ chat, cases, lessonOf, repeats: 3, concurrency: 2 });
    expect(chat.asked).toHaveLength(9);
    expect(new Set(chat.asked.map(({ seed }) => seed))).toEqual(new Set([1, 2, 3]));
    expect(judged.notes).toBe(3);
    expect(judged.contextPrecision.repeats).toEqual([1, 0.75, 0.75]);
    expect(judged.contextPrecision.mean).toBeCloseTo(2.5 / 3, 12);
    expect(judged.contextPrecision.spread).toBeCloseTo(0.1443, 4);
    expect(judged.agreement.repeats).toEqual([2 / 3, 1, 1]);
    expect(renderJudged(judged).join('\n')).toContain('0.833 ± 0.144 over 3 repeats');
  });

  it('keeps a lesson from closing its element, and leaves out what has no verdict', async () => {
    const chat = judge((content) => (content.includes('text-a.') ? 'I cannot say.' : 'VERDICT: YES'));
    const judged = await judgeContexts({ chat, cases, lessonOf, repeats: 1, concurrency: 1 });
    expect(chat.asked[0]?.messages[0]?.content.match(/<\/lesson>/g)).toHaveLength(1);
    expect(judged.unreadable).toBe(1);
    expect(judged.agreement.repeats).toEqual([1 / 2]);
  });

  it('ends with what there is where the budget ends', async () => {
    let calls = 0;
    const chat = judge(() => {
      calls += 1;
      if (calls > 2)
        throw new ErrataError('BUDGET_EXCEEDED', 'Expected at most 2 calls, received a call beyond');
      return 'VERDICT: YES';
    });
    const judged = await judgeContexts({ chat, cases, lessonOf, repeats: 2, concurrency: 1 });
    expect(judged.stopped).toContain('at most 2 calls');
    expect(judged.contextPrecision.repeats).toEqual([1]);
  });
});

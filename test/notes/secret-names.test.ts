import { afterAll, describe, expect, it } from 'vitest';
import { correction, openWritePath, REVIEWER } from '../doubles/write-path.js';

const plain = await openWritePath();
const strict = await openWritePath({ phones: true });
afterAll(async () => {
  await plain.close();
  await strict.close();
});

describe('names that are shown everywhere', () => {
  it.each([{ namespace: '0049-30-901820' }, { taskType: '0049.30.901820' }])(
    'may be a phone number only where those are not redacted: %o',
    async (name) => {
      const [field] = Object.keys(name);
      await expect(strict.commands.submit(REVIEWER, correction(name))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: { field },
      });
      expect((await plain.commands.submit(REVIEWER, correction(name))).note).toMatchObject(name);
      expect((await strict.commands.submit(REVIEWER, correction())).outcome).toBe('CREATED');
    },
  );
});

import type { FastifyInstance } from 'fastify';
import { isErrataError } from '../domain/errors.js';
import type { UseCases } from '../ports/use-cases.js';

/** Probes give up after seconds; an answer that says what is missing is worth more than none. */
const READY_TIMEOUT_MS = 5_000;

/** Both are open: they tell nothing that belongs to a tenant. */
export function registerHealthRoutes(app: FastifyInstance, useCases: Pick<UseCases, 'ready'>): void {
  app.get('/healthz', async () => ({ status: 'alive' }));
  app.get('/readyz', async (_request, reply) => {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, READY_TIMEOUT_MS, 'late');
    });
    try {
      if ((await Promise.race([useCases.ready(), timeout])) === 'late') {
        return reply.code(503).send({ status: 'unavailable', code: 'TIMED_OUT' });
      }
      return { status: 'ready' };
    } catch (error) {
      const known = isErrataError(error) && error.category !== 'internal' ? error : undefined;
      return reply.code(503).send({
        status: 'unavailable',
        code: known?.code ?? 'INTERNAL',
        ...(known !== undefined && { message: known.message }),
      });
    } finally {
      clearTimeout(timer);
    }
  });
}

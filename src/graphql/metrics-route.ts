import type { FastifyInstance } from 'fastify';
import { requireRole } from '../domain/access.js';
import { ErrataError } from '../domain/errors.js';
import type { MetricsPage } from '../ports/telemetry.js';
import type { Authenticate } from './authentication.js';

/** `/metrics` for keys that may read every namespace: figures are of the whole process. */
export function registerMetricsRoute(
  app: FastifyInstance,
  page: MetricsPage,
  authenticate: Authenticate,
): void {
  app.get('/metrics', async (request, reply) => {
    const caller = await authenticate(request.headers.authorization);
    requireRole(caller, 'reader');
    if (caller.namespaces !== undefined) {
      throw new ErrataError('FORBIDDEN', 'Expected a key for every namespace, received one with grants');
    }
    return reply.type(page.contentType).send(await page.render());
  });
}

import type { FastifyInstance } from 'fastify';

/** A day; browsers cap it themselves. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** Whether a page of this origin may call: trusted by configuration, or served by the same host. */
export function isTrustedOrigin(
  origin: string,
  host: string | undefined,
  trustedOrigins: readonly string[],
): boolean {
  if (trustedOrigins.includes(origin)) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * CORS for the configured origins only; without any, no header is sent and browsers keep other sites out. Must be
 * registered before authentication, since preflights carry no key.
 */
export function registerCrossOrigin(app: FastifyInstance, trustedOrigins: readonly string[]): void {
  if (trustedOrigins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    reply.header('vary', 'Origin');
    if (origin === undefined || !trustedOrigins.includes(origin)) return;
    reply.header('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS') return;
    reply
      .header('access-control-allow-methods', 'GET, POST')
      .header('access-control-allow-headers', 'authorization, content-type, apollo-require-preflight')
      .header('access-control-max-age', String(PREFLIGHT_MAX_AGE_SECONDS));
    return reply.code(204).send();
  });
}

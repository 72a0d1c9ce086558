import type { CallOrigin } from '../domain/audit.js';
import { canonicalLine, withoutControls } from '../domain/canonical.js';
import { redactSecrets } from './redact-secrets.js';

/** Characters of a client's name that are kept: enough for a browser's. */
const MAX_CLIENT = 200;
/** Clients of one installation are few; beyond this the names are forgotten and read anew. */
const MAX_KNOWN = 256;
const known = new Map<string, string>();

/** An origin as it may be stored: the client's name on one line, without secrets; IPv4 addresses as such. */
export function cleanOrigin({ via, address, client }: CallOrigin): CallOrigin {
  const named = client === undefined ? '' : cleanClient(client);
  return {
    via,
    ...(address !== undefined && { address: address.replace(/^::ffff:(?=\d+\.)/i, '') }),
    ...(named !== '' && { client: named }),
  };
}

/** Every request names its client, nearly always as the one before: redaction runs once a name. */
function cleanClient(client: string): string {
  const held = known.get(client);
  if (held !== undefined) return held;
  const clean = redactSecrets(canonicalLine(withoutControls(client))).text.slice(0, MAX_CLIENT);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(client, clean);
  return clean;
}

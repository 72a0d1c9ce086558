import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Caller, ROLES, type Role } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { Clock } from '../ports/clock.js';
import type { AuditLog, KeyStore } from '../ports/note-store.js';
import type { KeyCommands } from '../ports/use-cases.js';
import { cleanOrigin } from './clean-origin.js';

const NAME = /^[a-z0-9][a-z0-9._@-]{0,63}$/iu;
const PREFIX = 'errata_';
/** 256 random bits: as long as the hash, so that a plain SHA-256 is as good as a slow one. */
const KEY_BYTES = 32;
/** A key that a person chose has less entropy; below this length it is refused. */
const MIN_KEY_LENGTH = 24;

export interface KeyCommandDeps {
  readonly keys: KeyStore;
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** SHA-256 of a key as lower-case hex: what is stored and looked up, so that neither holds the key. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export function createKeyCommands(deps: KeyCommandDeps): KeyCommands {
  const { keys, audit, clock } = deps;
  const record = (caller: Caller, action: string, name: string) =>
    audit.append({
      id: randomUUID(),
      at: clock.now(),
      ...actorOf(caller),
      action,
      changes: [`key: ${name}`],
    });
  return {
    async create(caller, name, roles, namespaces) {
      const key = PREFIX + randomBytes(KEY_BYTES).toString('base64url');
      await storeKey(deps, key, name, checkRoles(roles), namespaces);
      await record(caller, 'key-created', name);
      return key;
    },
    async revoke(caller, name) {
      const revoked = await keys.revoke(name, clock.now());
      if (revoked) await record(caller, 'key-revoked', name);
      return revoked;
    },
    async list() {
      return (await keys.list()).map(({ keyHash: _hash, ...shown }) => shown);
    },
    async authenticate(key, from) {
      const found = await keys.findByHash(hashKey(key));
      if (found === undefined) return undefined;
      const { name, roles, namespaces } = found;
      return { name, roles, namespaces, ...(from && { origin: cleanOrigin(from) }) };
    },
  };
}

/**
 * Makes sure that there is an admin key: stores the given one, or makes one where no key exists at all.
 * Returns the key where this call made it. Errors: `INVALID_CONFIG` for a given key under 24 characters or a revoked one.
 */
export async function ensureAdminKey(
  deps: KeyCommandDeps,
  given: string | undefined,
): Promise<string | undefined> {
  const { keys } = deps;
  if (given !== undefined) {
    if (given.length < MIN_KEY_LENGTH) {
      throw new ErrataError(
        'INVALID_CONFIG',
        `Expected at least ${MIN_KEY_LENGTH} characters for the admin key, received ${given.length}`,
      );
    }
    await storeGivenKey(deps, given);
    return undefined;
  }
  if ((await keys.list()).some(({ revokedAt, roles }) => revokedAt === undefined && roles.includes('admin')))
    return undefined;
  const key = PREFIX + randomBytes(KEY_BYTES).toString('base64url');
  return (await storeUnlessRaced(deps, key)) ? key : undefined;
}

/** Takes the place of the admin key in use. Errors: `INVALID_CONFIG` for a key that was revoked, before anything changes. */
async function storeGivenKey(deps: KeyCommandDeps, given: string): Promise<void> {
  const { keys, clock } = deps;
  const keyHash = hashKey(given);
  const isLive = async () => (await keys.findByHash(keyHash)) !== undefined;
  if (await isLive()) return;
  // A revoked key stays so; found out only after the present key is gone, nobody could get in any more.
  if ((await keys.list()).some((key) => key.keyHash === keyHash && key.revokedAt !== undefined)) {
    throw new ErrataError('INVALID_CONFIG', 'Expected a new key for the admin key, received a revoked one');
  }
  if ((await storeUnlessRaced(deps, given)) || (await isLive())) return;
  await keys.revoke('admin', clock.now());
  await storeKey(deps, given, 'admin', ['admin'], undefined);
}

/** False where another process that starts at the same moment has made the admin key first: that is no reason not to start. */
async function storeUnlessRaced(deps: KeyCommandDeps, key: string): Promise<boolean> {
  try {
    await storeKey(deps, key, 'admin', ['admin'], undefined);
    return true;
  } catch (error) {
    if (isErrataError(error, 'KEY_EXISTS')) return false;
    throw error;
  }
}

async function storeKey(
  { keys, clock }: KeyCommandDeps,
  key: string,
  name: string,
  roles: readonly Role[],
  namespaces: readonly string[] | undefined,
): Promise<void> {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected 1–64 letters, digits, ., _, @ or - for name, received another form',
      {
        details: { field: 'name' },
      },
    );
  }
  await keys.create({
    name,
    keyHash: hashKey(key),
    roles,
    namespaces: namespaces?.map(checkNamespace),
    createdAt: clock.now(),
  });
}

function checkRoles(roles: readonly string[]): readonly Role[] {
  const known = ROLES.filter((role) => roles.includes(role));
  if (known.length === 0 || known.length !== new Set(roles).size) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected one or more of ${ROLES.join(', ')} for roles, received others or none`,
      {
        details: { field: 'roles' },
      },
    );
  }
  return known;
}

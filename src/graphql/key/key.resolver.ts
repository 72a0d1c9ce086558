import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { isGranted, requireRole } from '../../domain/access.js';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import { requireEveryNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';

/** A key cannot hand out, or take away, more than it has itself. Errors: `FORBIDDEN`. */
function requireGrants(caller: Caller, namespaces: readonly string[] | null | undefined): void {
  if (namespaces == null) requireEveryNamespace(caller);
  else if (!namespaces.every((namespace) => isGranted(caller, namespace))) {
    throw new ErrataError('FORBIDDEN', 'Expected granted namespaces for namespaces, received another one', {
      details: { field: 'namespaces' },
    });
  }
}

@Resolver()
export class KeyResolver {
  @Mutation(() => String, {
    description:
      'Makes an API key and answers with it: the only time it is shown, since only a digest is stored. Role: admin.',
  })
  createApiKey(
    @Ctx() context: GraphqlContext,
    @Arg('name', () => String, { description: 'Stands in the audit log as the actor.' }) name: string,
    @Arg('roles', () => [String], {
      description: '`reader`, `reviewer`, `admin`; each implies those before it.',
    })
    roles: string[],
    @Arg('namespaces', () => [String], { nullable: true, description: 'None: every namespace.' })
    namespaces?: string[] | null,
  ): Promise<string> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    requireGrants(caller, namespaces);
    return useCases.keys.create(caller, name, roles, namespaces ?? undefined);
  }

  @Mutation(() => Boolean, {
    description: 'Takes an API key out of use at once. False where no such key is in use. Role: admin.',
  })
  async revokeApiKey(
    @Ctx() context: GraphqlContext,
    @Arg('name', () => String, { description: "The key's name." }) name: string,
  ): Promise<boolean> {
    const { caller, useCases } = context;
    requireRole(caller, 'admin');
    if (caller.namespaces !== undefined) {
      const key = (await useCases.keys.list()).find(
        (each) => each.name === name && each.revokedAt === undefined,
      );
      if (key === undefined) return false;
      requireGrants(caller, key.namespaces);
    }
    return useCases.keys.revoke(caller, name);
  }
}

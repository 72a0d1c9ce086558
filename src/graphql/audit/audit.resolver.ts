import { Arg, Ctx, FieldResolver, ID, Int, Query, Resolver, Root } from 'type-graphql';
import { hasRole, requireRole } from '../../domain/access.js';
import { ErrataError } from '../../domain/errors.js';
import type { NamespaceScope } from '../../ports/note-store.js';
import { grantedScope } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { FeedbackNoteType } from '../note/note.type.js';
import { cursorBinding } from '../paging/cursor-codec.js';
import { readPageRequest } from '../paging/page-request.js';
import { AuditConnectionType } from './audit.type.js';

interface AuditSelection {
  readonly noteId?: string;
  readonly actor?: string;
}

const bindingOf = (filter: AuditSelection): string => cursorBinding('audit', { ...filter });

@Resolver(() => FeedbackNoteType)
export class AuditResolver {
  @Query(() => AuditConnectionType, {
    description:
      'Audit events, newest first, narrowed to the namespaces of the key. A key for every namespace needs role admin unless it names a note, since the whole log also holds events about keys.',
  })
  async auditLog(
    @Ctx() context: GraphqlContext,
    @Arg('noteId', () => ID, { nullable: true, description: 'Only events of this note.' })
    noteId?: string | null,
    @Arg('actor', () => String, { nullable: true, description: 'Only events by this actor.' })
    actor?: string | null,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'Page size, 1…200.' })
    first?: number | null,
    @Arg('after', () => String, { nullable: true, description: 'Cursor to start after.' })
    after?: string | null,
  ): Promise<AuditConnectionType> {
    requireRole(context.caller, 'reader');
    const scope = grantedScope(context.caller);
    if (scope === 'all' && noteId == null && !hasRole(context.caller, 'admin')) {
      throw new ErrataError('FORBIDDEN', 'Expected role admin, or a noteId, for the whole audit log', {
        details: { role: 'admin' },
      });
    }
    const filter = { ...(noteId != null && { noteId }), ...(actor != null && { actor }) };
    return pageOf(context, scope, filter, { first, after });
  }

  @FieldResolver(() => AuditConnectionType, { description: "The note's audit events, newest first." })
  async history(
    @Root() root: FeedbackNoteType,
    @Ctx() context: GraphqlContext,
    @Arg('first', () => Int, { nullable: true, defaultValue: 20, description: 'Page size, 1…200.' })
    first?: number | null,
    @Arg('after', () => String, { nullable: true, description: 'Cursor to start after.' })
    after?: string | null,
  ): Promise<AuditConnectionType> {
    const { id, namespace } = root.note;
    const filter = { noteId: id };
    if (after != null) return pageOf(context, [namespace], filter, { first, after });
    const binding = bindingOf(filter);
    const { limit } = readPageRequest({ first }, context.cursors, binding);
    const history = await context.loaders.histories.load({ namespace, id, first: limit });
    return new AuditConnectionType({
      items: history.items,
      keysets: history.keysets,
      flags: { hasNext: history.hasNext, hasPrevious: false },
      countAll: () => history.total,
      cursors: context.cursors,
      binding,
    });
  }
}

async function pageOf(
  context: GraphqlContext,
  scope: NamespaceScope,
  filter: AuditSelection,
  page: { first?: number | null | undefined; after?: string | null | undefined },
): Promise<AuditConnectionType> {
  const { cursors, loaders, useCases } = context;
  const binding = bindingOf(filter);
  const found = await useCases.notes.audit(scope, filter, readPageRequest(page, cursors, binding));
  return new AuditConnectionType({
    items: found.items,
    keysets: found.keysets,
    flags: found,
    countAll: () =>
      loaders.count(JSON.stringify([binding, scope]), () => useCases.notes.auditCount(scope, filter)),
    cursors,
    binding,
  });
}

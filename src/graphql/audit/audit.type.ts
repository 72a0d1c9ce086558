import { Field, ID, Int, ObjectType } from 'type-graphql';
import type { AuditEvent, CallOrigin, OriginKind } from '../../domain/audit.js';
import type { Instant } from '../../domain/note.js';
import type { Keyset, Page } from '../../ports/note-store.js';
import { DateTimeScalar } from '../date-time.scalar.js';
import { PageInfoType, pageCursors } from '../paging/connection.type.js';
import type { CursorCodec } from '../paging/cursor-codec.js';

@ObjectType('AuditOrigin', {
  description: 'From where a change came, as far as the server knows.',
  simpleResolvers: true,
})
class AuditOriginType implements CallOrigin {
  @Field(() => String, { description: 'API, CLI, IMPORT or JOB.' })
  readonly via!: OriginKind;
  @Field(() => String, {
    nullable: true,
    description: 'Address of the connection; behind a proxy the one of the proxy.',
  })
  readonly address?: string | undefined;
  @Field(() => String, { nullable: true, description: 'What the client called itself, redacted.' })
  readonly client?: string | undefined;
}

@ObjectType('AuditEvent', {
  description: 'What happened, to a note or to the installation.',
  simpleResolvers: true,
})
export class AuditEventType implements Omit<AuditEvent, 'namespace'> {
  @Field(() => ID, { description: 'Unique and stable.' })
  readonly id!: string;
  @Field(() => DateTimeScalar, { description: 'When.' })
  readonly at!: Instant;
  @Field(() => String, { description: 'Name of the API key, or `cli`, `import`, `job:KIND`.' })
  readonly actor!: string;
  @Field(() => AuditOriginType, { nullable: true, description: 'From where; unknown of older events.' })
  readonly origin?: AuditOriginType | undefined;
  @Field(() => String, {
    description:
      'Such as `created`, `support-added`, `approved`, `deprecated`, `restored`, `erased`, `key-created`.',
  })
  readonly action!: string;
  @Field(() => ID, { nullable: true, description: 'The note it concerns; none for the installation.' })
  readonly noteId?: string | undefined;
  @Field(() => String, { nullable: true, description: 'Why, in the words of the actor.' })
  readonly reason?: string | undefined;
  @Field(() => [String], { description: 'One `field: before → after` a change, without note text.' })
  readonly changes!: readonly string[];
}

@ObjectType('AuditEdge', { description: 'An event and its place in the list.', simpleResolvers: true })
export class AuditEdgeType {
  @Field(() => String, { description: 'Opaque; only good for the same list and filter.' })
  readonly cursor!: string;
  @Field(() => AuditEventType, { description: 'The event.' })
  readonly node!: AuditEventType;
}

export interface AuditConnectionParts {
  readonly items: readonly AuditEvent[];
  readonly keysets: readonly Keyset[];
  readonly flags: Pick<Page<unknown>, 'hasNext' | 'hasPrevious'>;
  /** Only called where totalCount is selected. */
  readonly countAll: () => Promise<number> | number;
  readonly cursors: CursorCodec;
  readonly binding: string;
}

@ObjectType('AuditConnection', {
  description: 'A page of audit events, newest first (Relay).',
  simpleResolvers: true,
})
export class AuditConnectionType {
  @Field(() => [AuditEdgeType], { description: "The page's entries, newest first." })
  readonly edges: readonly AuditEdgeType[];
  @Field(() => PageInfoType, { description: 'Where the page stands.' })
  readonly pageInfo: PageInfoType;
  readonly #countAll: () => Promise<number> | number;

  constructor(parts: AuditConnectionParts) {
    const cursors = pageCursors(parts.cursors, parts.binding, parts.keysets);
    this.edges = parts.items.map((node, index) => ({ cursor: cursors[index] ?? '', node }));
    this.pageInfo = new PageInfoType(parts.flags, cursors);
    this.#countAll = parts.countAll;
  }

  @Field(() => Int, { description: 'Number of all matching events; counted only when selected.' })
  totalCount(): Promise<number> | number {
    return this.#countAll();
  }
}

import { randomUUID } from 'node:crypto';
import { BSON, type Collection, type Document, MongoClient } from 'mongodb';
import { createMongoStore } from '../../../src/adapters/mongo/create-mongo-store.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { Store } from '../../../src/ports/note-store.js';
import type { StoreFixture } from '../../contract/store/fixture.js';

interface NamedDocument extends Document {
  _id: string;
}

export interface MongoFixture extends StoreFixture {
  readonly database: string;
  readonly direct: { notes: Collection<NamedDocument>; audit: Collection<NamedDocument> };
}

/** One empty database on the server, dropped at the end. */
export async function createMongoFixture(
  uri: string,
  serial = false,
  sealing?: Cipher,
): Promise<MongoFixture> {
  const database = `errata_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const client = await new MongoClient(uri, serial ? { maxPoolSize: 1 } : {}).connect();
  const db = client.db(database);
  const opened: Store[] = [];
  const connect = async (cipher = sealing): Promise<Store> => {
    const store = await createMongoStore({ uri, database, cipher });
    opened.push(store);
    return store;
  };
  const notes = db.collection<NamedDocument>('notes');
  const audit = db.collection<NamedDocument>('audit');
  const chain = db.collection<{ _id: number }>('auditChain');
  return {
    database,
    direct: { notes, audit },
    store: await connect(),
    connect,
    damage: async (id) => {
      await notes.updateOne({ _id: id }, { $set: { attributes: 'damaged' } });
    },
    forge: {
      renameActor: async (id, actor) => void (await audit.updateOne({ _id: id }, { $set: { actor } })),
      dropEvent: async (id) => void (await audit.deleteOne({ _id: id })),
      dropLink: async (number) => void (await chain.deleteOne({ _id: number })),
      dropChain: async () => void (await chain.deleteMany({})),
      addEvent: async (id) =>
        void (await audit.insertOne({
          _id: id,
          at: '2026-01-01T00:00:00.000Z',
          version: 0,
          actor: 'x',
          action: 'created',
          changes: [],
        })),
    },
    cutOff: async (write) => {
      const before = new Set((await audit.find().toArray()).map(({ _id }) => _id));
      const revisions = db.collection<{ _id: number }>('changes');
      const [last] = await revisions.find().sort({ _id: -1 }).limit(1).toArray();
      const store = await connect();
      await write(store);
      await store.close();
      // The same state as after a kill between the note and what follows it: the event is only in the note.
      const written = (await audit.find().toArray()).filter(({ _id }) => !before.has(_id));
      await revisions.deleteMany({ _id: { $gt: last?._id ?? 0 } });
      for (const event of written) {
        await audit.deleteOne({ _id: event._id });
        await notes.updateOne({ _id: event.noteId }, { $set: { pending: { ...event, open: true } } });
      }
    },
    cutOffEvent: async ({ id, ...fields }) => {
      const intents = db.collection<NamedDocument>('auditIntents');
      await intents.insertOne({ _id: id, event: JSON.stringify({ id, ...fields }), due: 0 });
      await audit.insertOne({ _id: id, ...fields, version: 0 });
    },
    raw: async () => {
      const names = (await db.listCollections().toArray()).map(({ name }) => name);
      const documents = await Promise.all(names.map((name) => db.collection(name).find().toArray()));
      return Buffer.concat(documents.flat().map((document) => Buffer.from(BSON.serialize(document))));
    },
    dispose: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await db.dropDatabase();
      await client.close();
    },
  };
}

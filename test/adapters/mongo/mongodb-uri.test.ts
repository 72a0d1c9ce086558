import { describeNoteStore } from '../../contract/note-store.contract.js';
import { createMongoFixture } from './mongo-fixture.js';

const uri = process.env.MONGODB_URI;

describeNoteStore(
  'MongoDB store on the server of MONGODB_URI',
  { createFixture: () => createMongoFixture(uri ?? ''), clients: 8 },
  uri === undefined || uri === '' ? 'MONGODB_URI is not set' : undefined,
);

import { describeNoteStore } from '../../contract/note-store.contract.js';
import { createSqliteFixture } from './sqlite-fixture.js';

describeNoteStore('SQLite store', { createFixture: createSqliteFixture, clients: 8 });

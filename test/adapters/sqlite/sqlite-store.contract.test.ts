import { describeEncryptedStore, describeNoteStore } from '../../contract/note-store.contract.js';
import { changeableKeys, newKey } from '../../contract/store/encryption.contract.js';
import { createSqliteFixture } from './sqlite-fixture.js';

describeNoteStore('SQLite store', { createFixture: () => createSqliteFixture(), clients: 8 });
describeEncryptedStore('SQLite store, encrypted', {
  createFixture: () => createSqliteFixture(changeableKeys(newKey('k1')).cipher),
  clients: 8,
});

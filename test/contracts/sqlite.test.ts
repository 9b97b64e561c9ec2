import { join } from 'node:path'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { temporaryFolder } from '../support/folder.ts'
import { changesContract } from './changes.ts'
import { databaseContract } from './database.ts'
import { followingContract } from './following.ts'
import { listsContract } from './lists.ts'

const make = async () => {
  const folder = await temporaryFolder()
  return {
    open: () => openSqlite(join(folder.path, 'test.db')),
    remove: async () => {
      await folder[Symbol.asyncDispose]()
    },
  }
}
databaseContract('SQLite', make)
changesContract('SQLite', make)
followingContract('SQLite', make)
listsContract('SQLite', make, 500)

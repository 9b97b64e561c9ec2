// Serves the tables of a database as GraphQL, with the plugin for filters: `node postgraphile.js DATABASE_URL`.
import { createServer } from 'node:http'
import { grafserv } from 'postgraphile/grafserv/node'
import { postgraphile } from 'postgraphile'
import { makePgService } from 'postgraphile/adaptors/pg'
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber'
import { PostGraphileConnectionFilterPreset } from 'postgraphile-plugin-connection-filter'

const instance = postgraphile({
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
  pgServices: [makePgService({ connectionString: process.argv[2], schemas: ['public'] })],
  grafast: { explain: false },
})
const server = createServer().listen(0, '127.0.0.1')
server.on('error', (error) => console.error(error))
await instance.createServ(grafserv).addTo(server)
await instance.getSchema()
console.log(`listening on http://127.0.0.1:${server.address().port}`)

/** A process that takes a lease, says so, and never ends its work. */
import { Leases } from '../../src/storage/database/leases.ts'
import { openAt } from './instance.ts'

const [address = '', name = '', ttlMs = ''] = process.argv.slice(2)
const leases = new Leases(await openAt(address), Number(ttlMs))
const forever = async () => {
  process.send?.('holding')
  await new Promise((resolve) => setTimeout(resolve, 600_000))
}
await leases.run({ name, everyMs: 0, run: forever }, new AbortController().signal)

import { createAccounts } from '../accounts/index.ts'
import { openDatabase } from '../context.ts'
import { systemClock } from '../core/clock.ts'
import { changeLimits } from '../imagestore/limits.ts'
import { readOptions } from './options.ts'
import { usageFault } from './usage.ts'

const NONE = 'none'

/** `catalejo account set NAME`: what an application may do. Works beside a running service. */
export async function account(args: readonly string[]): Promise<void> {
  const options = readOptions(args, ['max-bytes', 'max-images'])
  if (options === undefined) return
  const { config, own, positionals } = options
  const [action, name, ...rest] = positionals
  if (action !== 'set' || name === undefined || rest.length > 0) return usageFault('account takes set NAME')
  const maxBytes = readLimit(own['max-bytes'])
  const maxImages = readLimit(own['max-images'])
  if (maxBytes === 'wrong' || maxImages === 'wrong') {
    return usageFault('--max-bytes and --max-images take an integer from 0 on, or none')
  }
  if (maxBytes === undefined && maxImages === undefined) {
    return usageFault('account set takes --max-bytes N, --max-images N, or both')
  }
  const database = await openDatabase(config)
  try {
    const found = await createAccounts(database, systemClock).find(name)
    if (found?.service !== 'imagestore') {
      console.error(`catalejo: there is no account «${name}» of the service imagestore`)
      process.exitCode = 1
      return
    }
    const limits = await changeLimits(database, found.id, {
      ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
      ...(maxImages === undefined ? {} : { max_images: maxImages }),
    })
    console.log(`${found.name}: ${text(limits.max_images)} images, ${text(limits.max_bytes)} bytes`)
  } finally {
    await database.close()
  }
}

/** null lifts the bound; undefined leaves it. */
function readLimit(given: string | undefined): number | null | undefined | 'wrong' {
  if (given === undefined) return undefined
  if (given === NONE) return null
  return /^\d{1,15}$/.test(given) ? Number(given) : 'wrong'
}

const text = (limit: number | null): string => (limit === null ? 'any number of' : `at most ${limit}`)

import type { App } from '../../server/app.ts'
import { welcome } from './welcome.ts'

/** On an empty database: makes an account and a key for each service and shows how to use them, once. */
export async function firstRun({ baseUrl, context }: App): Promise<void> {
  const keys = await context.accounts.createFirst([
    { name: 'grupo', service: 'domainwatch' },
    { name: 'aplicacion', service: 'imagestore' },
  ])
  if (keys === undefined) return
  const [group = '', application = ''] = keys
  process.stdout.write(await welcome(baseUrl, group, application))
}

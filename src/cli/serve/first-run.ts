import type { App } from '../../app.ts'
import type { Service } from '../../http/authentication.ts'
import { welcome } from './welcome.ts'

/** On an empty database: makes an account and a key for each service and shows how to use them, once. */
export async function firstRun({ baseUrl, context }: App): Promise<void> {
  const { accounts } = context
  if (!(await accounts.isEmpty())) return
  const group = await newKey('grupo', 'domainwatch')
  const application = await newKey('aplicacion', 'imagestore')
  process.stdout.write(await welcome(baseUrl, group, application))

  async function newKey(account: string, service: Service): Promise<string> {
    const outcome = await accounts.createKey(account, service)
    if (outcome.kind !== 'created') throw new Error(`the first key could not be made: ${outcome.kind}`)
    return outcome.key
  }
}

import { environmentName } from '../config/setting.ts'
import { settings } from '../config/settings.ts'

export function help(): void {
  const lines = Object.values(settings).map(({ name, summary }) => {
    return `  --${name.padEnd(18)}${environmentName(name).padEnd(28)}${summary}`
  })
  console.log(`catalejo serve [flags]                     run the service
catalejo key create --account NAME --service domainwatch|imagestore
                                           make a key (and the account) and print it
catalejo key list                          keys, without what is secret
catalejo key revoke ID                     revoke a key, at once
catalejo changes [--since CURSOR] [--follow yes]
                                           print what was changed, a JSON line each

Flags, and the environment variable of each (a flag wins; NAME_FILE names a file with the value):
${lines.join('\n')}`)
}

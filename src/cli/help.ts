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
catalejo import [--account NAME] [--format registrations|deletions|csv|ndjson] [--dry-run] [--restart] FILE…
                                           load the registry's lists or an export; - is standard input
catalejo export [--format csv|ndjson]      write every record to standard output

Flags, and the environment variable of each (a flag wins; NAME_FILE names a file with the value):
${lines.join('\n')}`)
}

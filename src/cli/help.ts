import { environmentName } from '../config/setting.ts'
import { settings } from '../config/settings.ts'

export function help(): void {
  const all = Object.values(settings)
  const width = 2 + Math.max(...all.map(({ name }) => name.length))
  const variableWidth = 2 + Math.max(...all.map(({ name }) => environmentName(name).length))
  const lines = all.map(
    ({ name, summary }) =>
      `  --${name.padEnd(width)}${environmentName(name).padEnd(variableWidth)}${summary}`,
  )
  console.log(`catalejo serve [flags]                     run the service
catalejo key create --account NAME --service domainwatch|imagestore|admin
                    [--scope read|write|upload|full] [--expires 90d] [--rate 60/min]
                                           make a key (and the account) and print it; limit what it opens, for
                                           how long, and how many requests it may make
catalejo key list                          keys, without what is secret
catalejo key revoke ID                     revoke a key, at once
catalejo account list                      how each application's images may be asked for
catalejo account set NAME [--delivery open|ladder|presets|signed] [--max-bytes N|none] [--max-images N|none]
                                           settle how its images may be asked for, and what it may hold
catalejo account secret NAME [--new]       print what its links are signed with; --new ends all links signed before
catalejo sign LINK --account NAME [--expires SECONDS|DATE]
                                           print the link of an image, signed; LINK is what stands behind /i/
catalejo images import FOLDER|FILE.ndjson --account NAME [--restart]
                                           store the images of a folder, or those that a list names
catalejo images export FOLDER --account NAME
                                           write an application's images, and a list that imports them again
catalejo import [--account NAME] [--format registrations|deletions|csv|ndjson] [--dry-run] [--restart] [FILE…]
                                           load the registry's lists or an export; without files, or as -,
                                           from standard input
catalejo export [--format csv|ndjson]      write every record to standard output
catalejo verify                            look for lost, rotted and left over images and for faults of the
                                           database; exit 0: none, 1: some, 2: could not be done
  --repair                                 mark what is lost, put aside what is rotted, remove what is left over
  --claim                                  make the image store this database's, whosever it was
  --examples N                             list so many of each kind of fault (10)
catalejo migrate [--to-database-url URL] [--to-blobs-url URL] [--to-data FOLDER] [--force]
                                           copy a live instance, or bring such a copy up to date, and verify it
catalejo backup FOLDER|s3://… [--keep N]   take a snapshot; keep the newest N only
catalejo restore FOLDER|s3://… [--snapshot NAME]
                                           fill an empty instance from a snapshot, by default the newest
catalejo changes [--since CURSOR] [--follow yes]
                                           print what was changed, a JSON line each

Flags, and the environment variable of each (a flag wins; NAME_FILE names a file with the value):
${lines.join('\n')}`)
}

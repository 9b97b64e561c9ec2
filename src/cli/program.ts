import { settings } from '../server/config/settings.ts'
import { EXPORT_FORMATS } from '../domainwatch/export.ts'
import { IMPORT_FORMATS } from '../domainwatch/import/format.ts'
import { DEFAULT_WINDOW, WINDOW_NAMES } from '../domainwatch/registry/rules.ts'
import { ALL_SCOPES, SERVICES } from '../http/auth/key-limits.ts'
import { DELIVERY_MODES } from '../imagestore/links/link.ts'
import { VERSION } from '../lib/version.ts'
import { CatalejoCommand, SettingOption } from './command.ts'
import { COULD_NOT_VERIFY } from './output.ts'

const DATABASE = ['data', 'database-url']
const STORES = [...DATABASE, 'blobs-url']

/** Every command with its arguments and flags. What a command does is loaded when it runs. */
export function createProgram(): CatalejoCommand {
  const program = new CatalejoCommand('catalejo')
    .description(
      'Self-hosted service for tracking .cl domains and hosting images. Commands work while the service runs.',
    )
    .version(VERSION, '--version', 'print the version')
    .examples('catalejo serve --port 9000', 'catalejo key create --help')
  for (const setting of Object.values(settings)) program.addOption(new SettingOption(setting))

  program
    .command('serve')
    .summary('run the service')
    .description(
      'Runs the service until SIGTERM or SIGINT. The first start on an empty data folder creates an account and a key for each service, and prints both keys once.',
    )
    .settings('all')
    .examples('catalejo serve', 'catalejo serve --port 9000 --data ./data')
    .runs(async () => (await import('./serve.ts')).serve)

  defineKeyCommands(program)
  defineAccountCommands(program)
  defineImageCommands(program)
  defineDomainCommands(program)
  defineMaintenanceCommands(program)

  return program
}

function defineKeyCommands(program: CatalejoCommand): void {
  const key = program
    .command('key')
    .summary('create, list and revoke keys')
    .description('Creates, lists and revokes keys.')
  key
    .command('create')
    .summary('create a key, and its account if needed, and print it')
    .description(
      'Creates a key, and the account if it does not exist, and prints only the key. It cannot be shown again.',
    )
    .flag('--account <NAME>', 'account that the key belongs to', { isRequired: true })
    .flag('--service <SERVICE>', 'service that the key gives access to', {
      isRequired: true,
      values: SERVICES,
    })
    .flag(
      '--scope <SCOPE>',
      'what the key allows: write is for domainwatch, upload and tickets for imagestore',
      {
        values: ALL_SCOPES,
        default: 'full',
      },
    )
    .flag(
      '--expires <TIME>',
      'lifetime in minutes, hours or days, such as 30m, 12h or 90d; by default unlimited',
    )
    .flag('--rate <RATE>', 'requests per s, min, h or day, such as 60/min; by default unlimited')
    .settings(DATABASE)
    .examples(
      'catalejo key create --account equipo --service domainwatch',
      'catalejo key create --account lectora --service domainwatch --scope read --expires 90d --rate 60/min',
    )
    .runs(async () => (await import('./accounts.ts')).createKey)
  key
    .command('list')
    .summary('list keys (secrets hidden)')
    .description(
      'Prints a header and a line for each key, in columns separated by tabs: id, service, account, creation, state, scope, expiry, rate, day of last use.',
    )
    .settings(DATABASE)
    .examples('catalejo key list')
    .runs(async () => (await import('./accounts.ts')).listKeys)
  key
    .command('revoke')
    .summary('revoke a key; it takes effect immediately')
    .description('Revokes a key. Requests with it are rejected immediately.')
    .argument('<ID>', 'id of the key, as `key list` prints it')
    .settings(DATABASE)
    .examples('catalejo key revoke $(catalejo key list | awk \'$3 == "lectora" { print $1 }\')')
    .runs(async () => (await import('./accounts.ts')).revokeKey)
}

function defineAccountCommands(program: CatalejoCommand): void {
  const account = program
    .command('account')
    .summary('show and change accounts of imagestore')
    .description('Shows and changes accounts of imagestore.')
  account
    .command('list')
    .summary('list accounts of imagestore with their delivery modes')
    .description(
      'Prints a line for each account of imagestore: its name, its delivery mode, and whether it has a signing secret.',
    )
    .settings(DATABASE)
    .examples('catalejo account list')
    .runs(async () => (await import('./accounts.ts')).listAccounts)
  account
    .command('set')
    .summary("change an account's delivery mode and quotas")
    .description('Changes the delivery mode and the quotas of an account. Needs at least one flag.')
    .argument('<NAME>', 'account')
    .flag('--delivery <MODE>', 'delivery mode', { values: DELIVERY_MODES })
    .flag('--max-bytes <N>', 'byte quota, or none if unlimited')
    .flag('--max-images <N>', 'image quota, or none if unlimited')
    .settings(DATABASE)
    .examples('catalejo account set aplicacion --delivery open --max-images 100000 --max-bytes none')
    .runs(async () => (await import('./accounts.ts')).setAccount)
  account
    .command('secret')
    .summary("print the secret that signs an account's links")
    .description('Prints the secret that signs the links of an account. The first call creates it.')
    .argument('<NAME>', 'account')
    .option('--new', 'create another secret; links signed with the old one are refused')
    .settings(DATABASE)
    .examples('catalejo account secret aplicacion')
    .runs(async () => (await import('./accounts.ts')).accountSecret)
}

function defineImageCommands(program: CatalejoCommand): void {
  program
    .command('sign')
    .summary("sign an image's link")
    .description('Prints the link of an image, signed with the secret of an account.')
    .argument('<LINK>', 'the link, or its part after /i/')
    .flag('--account <NAME>', 'account that holds the image', { isRequired: true })
    .flag('--expires <TIME>', 'expiry in seconds from now, or a date; by default never')
    .settings([...DATABASE, 'base-url', 'image-settings'])
    .examples(
      "catalejo sign '42j4wpd3wjumvg7ovuzuh4g5ev565hwq.webp&m=w_300' --account aplicacion --expires 86400",
    )
    .runs(async () => (await import('./accounts.ts')).signLink)

  const images = program
    .command('images')
    .summary('import and export images')
    .description('Imports and exports images.')
  images
    .command('import')
    .summary('store the images of a folder, a list or a bucket')
    .description(
      'Stores the images of a folder or of a bucket, or those that a list names, for an account. Run again after an interruption, it continues.',
    )
    .argument(
      '<PLACE>',
      'folder of images, s3://bucket/prefix, or a list: a file of addresses, or of JSON objects',
    )
    .flag('--account <NAME>', 'account of imagestore', { isRequired: true })
    .option('--restart', 'start from the beginning after an interruption')
    .settings([...STORES, 'strip', 'max-image-bytes', 'max-image-pixels', 'webhook-networks'])
    .examples(
      'catalejo images import ./pictures --account aplicacion',
      'catalejo images import s3://pictures/2026 --account aplicacion',
      'catalejo images import addresses.txt --account aplicacion',
    )
    .runs(async () => (await import('./images.ts')).importCommand)
  images
    .command('export')
    .summary("write an account's images to a folder")
    .description('Writes the images of an account, and images.ndjson, the list that imports them again.')
    .argument('<FOLDER>', 'folder to write to')
    .flag('--account <NAME>', 'account of imagestore', { isRequired: true })
    .settings(STORES)
    .examples('catalejo images export ./pictures --account aplicacion')
    .runs(async () => (await import('./images.ts')).exportCommand)
}

function defineDomainCommands(program: CatalejoCommand): void {
  program
    .command('import')
    .summary("load the registry's lists, or an export")
    .description(
      "Loads the registry's lists of registered and deleted domains, or an export, compressed or not. Run again after an interruption, it continues. Without files it reads standard input.",
    )
    .argument('[FILE...]', 'files to load; - is standard input')
    .flag('--account <NAME>', 'account of new records; required if domainwatch has several accounts')
    .flag('--format <FORMAT>', 'format of the files; by default detected from the first line', {
      values: IMPORT_FORMATS,
    })
    .flag('--source <NAME>', 'source of a list of the registry; by default its format and window')
    .flag('--window <WINDOW>', 'time that a list of deletions covers', {
      values: WINDOW_NAMES,
      default: DEFAULT_WINDOW,
    })
    .flag('--as-of <TIME>', 'time at which a list was fetched, such as 2026-01-31 15:00; by default now')
    .option('--force', 'take a list as complete even if it has less than half of the names of the last one')
    .option('--dry-run', 'store nothing, and report what would change')
    .option('--restart', 'start from the beginning after an interruption')
    .settings([...DATABASE, 'time-zone'])
    .examples(
      "printf 'Nombre,Fecha\\nejemplo,2026-01-31\\n' | catalejo import --account grupo --dry-run",
      'catalejo export --format ndjson > export.ndjson && catalejo import export.ndjson --account grupo',
    )
    .runs(async () => (await import('./import.ts')).importFiles)
  program
    .command('export')
    .summary('write all domain records to standard output')
    .description('Writes all domain records to standard output, in a format that import reads back.')
    .flag('--format <FORMAT>', 'format of the records', { values: EXPORT_FORMATS, default: 'csv' })
    .flag('--fields <FIELDS>', 'additional fields: all, or a list separated by commas such as seen,note,tags')
    .settings([...DATABASE, 'time-zone'])
    .examples('catalejo export > domains.csv', 'catalejo export --fields all > domains.csv')
    .runs(async () => (await import('./domains.ts')).exportAll)
  program
    .command('lists')
    .summary('repair what lists of the registry have changed')
    .description('Repairs what lists of the registry have changed.')
    .command('repair')
    .summary('correct names that version 0.1.0 freed by mistake')
    .description(
      'Prints the free names that are registered according to a list of registrations, and corrects them with --apply. Needs the newest list. Names that this version has freed are left unchanged.',
    )
    .argument('<FILE>', 'list of registrations')
    .flag('--account <NAME>', 'author of the changes; required if domainwatch has several accounts')
    .option('--apply', 'correct the names')
    .settings([...DATABASE, 'time-zone'])
    .examples(
      "printf 'Nombre,Fecha\\nejemplo,2026-01-31\\n' > altas.csv && catalejo lists repair altas.csv --account grupo",
    )
    .runs(async () => (await import('./import.ts')).repairLists)
  const dismissed = program
    .command('dismissed')
    .summary('list and forget names whose discarded records were purged')
    .description('Lists and forgets names whose discarded records were purged.')
  dismissed
    .command('list')
    .summary('print dismissed names as CSV, which import reads back')
    .description(
      'Prints dismissed names as CSV, those dismissed last first. Import reads it back. Lists of the registry record such a name again only if they report a newer registration or deletion.',
    )
    .flag('--search <TEXT>', 'only names that contain all words of this text')
    .settings(DATABASE)
    .examples('catalejo dismissed list > dismissed.csv', 'catalejo dismissed list --search casa')
    .runs(async () => (await import('./domains.ts')).listDismissed)
  dismissed
    .command('forget')
    .summary('allow lists of the registry to record names again')
    .description('Forgets that names were dismissed, and prints their number.')
    .argument('<NAME...>', 'names, with or without .cl')
    .settings(DATABASE)
    .examples('catalejo dismissed forget ejemplo.cl')
    .runs(async () => (await import('./domains.ts')).forgetDismissed)
  program
    .command('changes')
    .summary('print changes as JSON lines')
    .description(
      'Prints the changes of domains, images, keys and accounts as JSON lines, the oldest first. Exits with 3 if the changes after the cursor were deleted.',
    )
    .flag('--since <CURSOR>', 'continue after the line with this cursor')
    .flag('--follow <YES|NO>', 'also wait for new changes', { values: ['yes', 'no'], default: 'no' })
    .settings(DATABASE)
    .examples('catalejo changes', 'catalejo changes --follow yes')
    .runs(async () => (await import('./domains.ts')).changes)
}

function defineMaintenanceCommands(program: CatalejoCommand): void {
  program
    .command('doctor')
    .summary('diagnose the instance')
    .description(
      'Checks the machine, settings, database, image store, network, feeds, keys and backups, whether the service runs or not. Prints a line for each finding and its solution. Exits with 0, with 1 if there are warnings, and with 2 if there are failures.',
    )
    .option('--json', 'print the findings as one JSON array')
    .settings('all')
    .examples('catalejo doctor', 'catalejo doctor --json')
    .runs(async () => (await import('./checks.ts')).doctor)
  program
    .command('audit')
    .summary('print who did what')
    .description(
      'Prints changes of keys, limits and rules, deletions and bulk changes of the last year, the latest first, in columns separated by tabs.',
    )
    .flag('--account <NAME>', 'only actions of this account, or of a user as cli:NAME')
    .settings(DATABASE)
    .examples('catalejo audit', 'catalejo audit --account grupo')
    .runs(async () => (await import('./accounts.ts')).printAudit)
  const verify = program
    .command('verify')
    .summary('check the database and all images')
    .description(
      'Checks the database, and the bytes of every image. Exits with 0 without faults, with 1 if there are faults, and with 2 if it could not check.',
    )
    .option('--repair', 'mark lost images, quarantine corrupt ones, remove files that no record needs')
    .option('--claim', 'assign the image store to this database, even if it belonged to another one')
    .flag('--examples <N>', 'maximum number of listed faults of each kind', { default: '10' })
    .settings(STORES)
    .examples('catalejo verify', 'catalejo verify --repair')
    .runs(async () => (await import('./checks.ts')).verifyCommand)
  verify.settingsExitCode = COULD_NOT_VERIFY
  program
    .command('migrate')
    .summary('copy an instance to another database, image store or folder')
    .description(
      'Copies an instance that is in use, or updates such a copy, and compares both. Copies only the parts that flags name, and needs at least one --to flag.',
    )
    .flag('--to-database-url <URL>', 'database to copy to, postgres://…')
    .flag('--to-blobs-url <URL>', 'image store to copy to, s3://…')
    .flag('--to-data <FOLDER>', 'folder for the parts that the other flags do not name')
    .option('--force', 'replace the contents of the target')
    .settings(STORES)
    .examples('catalejo migrate --to-data ./copy')
    .runs(async () => (await import('./transfer.ts')).migrateCommand)
  defineBackupCommands(program)
  program
    .command('restore')
    .summary('fill an empty instance from a snapshot')
    .description('Fills an empty instance from a snapshot, after checking the whole snapshot.')
    .argument('<PLACE>', 'folder, or s3://bucket/prefix?endpoint=…')
    .flag('--snapshot <NAME>', 'snapshot to restore; by default the newest')
    .settings(STORES)
    .examples('catalejo restore ./backups --data ./restored')
    .runs(async () => (await import('./transfer.ts')).restoreCommand)
}

function defineBackupCommands(program: CatalejoCommand): void {
  const settings = [...STORES, 'backup-to', 'backup-keep']
  const place = 'folder, or s3://bucket/prefix?endpoint=…; by default --backup-to'
  const group = program
    .command('backup')
    .summary('create, list, check and try out backups')
    .description('Creates, lists, checks and tries out backups.')
  group
    .command('create', { isDefault: true })
    .summary('take a snapshot of records and images')
    .description('Takes a snapshot of all records and images. The snapshots of a place share images.')
    .argument('[PLACE]', place)
    .flag(
      '--keep <N>',
      'remove all but the newest N snapshots; by default --backup-keep for --backup-to, and no removal from another PLACE',
    )
    .settings(settings)
    .examples('catalejo backup create ./backups --keep 14')
    .runs(async () => (await import('./transfer.ts')).createBackup)
  group
    .command('list')
    .summary('list the snapshots of a place')
    .description('Prints a line for each snapshot, in columns separated by tabs, oldest first.')
    .argument('[PLACE]', place)
    .settings(settings)
    .examples('catalejo backup list ./backups')
    .runs(async () => (await import('./transfer.ts')).listBackups)
  group
    .command('check')
    .summary('read every byte of a snapshot')
    .description(
      'Reads every byte of a snapshot and compares it with its digest. Exits with 1 if anything differs.',
    )
    .argument('[PLACE]', place)
    .flag('--snapshot <NAME>', 'snapshot to check; by default the newest')
    .settings(settings)
    .examples('catalejo backup check ./backups')
    .runs(async () => (await import('./transfer.ts')).checkBackup)
  group
    .command('drill')
    .summary('restore the newest snapshot as a trial')
    .description(
      'Restores the newest snapshot into a temporary folder, compares 1,000 records that are unchanged since and 100 images with the instance, and removes the folder.',
    )
    .argument('[PLACE]', place)
    .settings(settings)
    .examples('catalejo backup drill ./backups')
    .runs(async () => (await import('./transfer.ts')).drillBackup)
}

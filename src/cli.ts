/** The `catalejo` command: one file a subcommand, loaded when asked for. */
const [name, ...args] = process.argv.slice(2)

// The service logs what nobody expected, with its stack; a command says in a line why it failed.
const isService = name === undefined || name === 'serve'
if (!isService) process.on('uncaughtException', (error) => void tell(error).then(() => process.exit()))

try {
  await run()
} catch (error) {
  if (isService) throw error
  await tell(error)
}

async function tell(error: unknown): Promise<void> {
  const { fail, failureLine } = await import('./cli/failure.ts')
  fail(failureLine(error))
}

async function run(): Promise<void> {
  switch (name) {
    case undefined:
    case 'serve':
      await (await import('./cli/serve.ts')).serve(args)
      break
    case 'key':
      await (await import('./cli/key.ts')).key(args)
      break
    case 'account':
      await (await import('./cli/account.ts')).account(args)
      break
    case 'sign':
      await (await import('./cli/sign.ts')).signLink(args)
      break
    case 'images':
      await (await import('./cli/images.ts')).images(args)
      break
    case 'import':
      await (await import('./cli/import.ts')).importFiles(args)
      break
    case 'export':
      await (await import('./cli/export.ts')).exportAll(args)
      break
    case 'verify':
      await (await import('./cli/verify.ts')).verifyCommand(args)
      break
    case 'migrate':
      await (await import('./cli/migrate.ts')).migrateCommand(args)
      break
    case 'backup':
      await (await import('./cli/backup.ts')).backupCommand(args)
      break
    case 'restore':
      await (await import('./cli/restore.ts')).restoreCommand(args)
      break
    case 'changes':
      await (await import('./cli/changes.ts')).changes(args)
      break
    case 'help':
    case '--help':
    case '-h':
      ;(await import('./cli/help.ts')).help()
      break
    case '--version':
      console.log((await import('./version.ts')).VERSION)
      break
    default:
      ;(await import('./cli/usage.ts')).usageFault(`unknown command ${name}`)
  }
}

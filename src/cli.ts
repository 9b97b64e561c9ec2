/** The `catalejo` command: one file a subcommand, loaded when asked for. */
const [name, ...args] = process.argv.slice(2)

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

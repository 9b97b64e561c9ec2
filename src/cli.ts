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

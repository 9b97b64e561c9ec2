/** The `catalejo` command. Without a command it runs the service. */
import { CommanderError } from 'commander'
import { createProgram } from './program.ts'
import { USAGE } from './output.ts'

const words = process.argv.slice(2)
let isService = false
const program = createProgram().hook('preAction', (_program, command) => {
  isService = command.name() === 'serve'
  // The service logs unexpected errors with their stack; a command reports them in one line.
  if (!isService) process.on('uncaughtException', (error) => void report(error).then(() => process.exit()))
})

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isService) throw error
  // The reader may stop early, as head(1) does.
  if (error.code === 'EPIPE') process.exit()
  void report(new Error(`the output could not be written: ${error.message}`)).then(() => process.exit())
})

try {
  const { operands, unknown } = program.parseOptions(words)
  const isBare = operands.length === 0 && unknown.length === 0
  await program.parseAsync(isBare ? [...words, 'serve'] : words, { from: 'user' })
} catch (error) {
  // The parser has reported the error, or shown the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE
  else if (isService) throw error
  else await report(error)
}

async function report(error: unknown): Promise<void> {
  const { fail, failureLine } = await import('./output.ts')
  fail(failureLine(error))
}

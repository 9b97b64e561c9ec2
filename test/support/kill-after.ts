/**
 * Loaded into a command before its own modules: kills the process once it has written TEST_KILL_AFTER to standard error. A parent
 * that reads the text may come too late, when the command has ended.
 */
const text = process.env['TEST_KILL_AFTER'] ?? ''

// oxlint-disable-next-line typescript/unbound-method -- the proxy calls it with its stream
process.stderr.write = new Proxy(process.stderr.write, {
  apply(write, stream, given: unknown[]) {
    const written: unknown = Reflect.apply(write, stream, given)
    if (String(given[0]).includes(text)) process.kill(process.pid, 'SIGKILL')
    return written
  },
})

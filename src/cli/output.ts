/** Writes no faster than the output is read. Returns the error that ended it, if any. */
export async function writeAll(
  output: NodeJS.WriteStream,
  texts: AsyncIterable<string>,
): Promise<NodeJS.ErrnoException | undefined> {
  let fault: NodeJS.ErrnoException | undefined
  output.on('error', (error) => (fault ??= error))
  for await (const text of texts) {
    if (fault !== undefined) return fault
    // Waiting for each write attributes an error to it.
    await new Promise<void>((resolve) => output.write(text, () => resolve()))
  }
  return fault
}

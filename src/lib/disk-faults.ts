/** What the system says when a disk is full, fails, or may not be written. */
const CODES = new Set(['EACCES', 'EDQUOT', 'EIO', 'ENOSPC', 'EPERM', 'EROFS'])

/** Whether an error tells of trouble with a disk as a whole, and not with one file. */
export const isDiskFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && CODES.has(String(error.code))

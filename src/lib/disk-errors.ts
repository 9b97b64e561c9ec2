/** Error codes of a disk that is full, fails or cannot be written. */
const CODES = new Set(['EACCES', 'EDQUOT', 'EIO', 'ENOSPC', 'EPERM', 'EROFS'])

/** Whether an error affects a whole disk and not only one file. */
export const isDiskError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && CODES.has(String(error.code))

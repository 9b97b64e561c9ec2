// Generated from src/domainwatch/limits.ts by npm run openapi. Do not edit.

export const DISCARDED_RETENTION_DAYS = 7
export const MAX_LABEL_CHARACTERS = 63

import { dateTime } from '../i18n/index.ts'

/** A local time of the service in the style of all dates, with its second on hover; a dash for none. */
export function Time({ at }: { at: string | null | undefined }) {
  if (typeof at !== 'string') return '–'
  return (
    <time dateTime={at} title={at}>
      {dateTime(at)}
    </time>
  )
}

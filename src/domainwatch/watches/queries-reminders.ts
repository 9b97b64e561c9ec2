import { DOMAIN_FIELDS } from '../../storage/database/changes/change.ts'
import { isOneOf, type Dialect } from '../../storage/database/dialect.ts'
import { empty, limit, raw, sql, type Sql } from '../../storage/database/sql.ts'

/** The last record, in the order of registrations, that was reported this number of days before the end. */
export interface ReminderState {
  readonly days: number
  readonly last_date: string
  readonly last_name: string
}

/** Begins with registrations after a date, unless these reminders have begun. */
export const beginReminders = (days: number, after: string) => sql`
  INSERT INTO reminders (days, last_date, last_name) VALUES (${days}, ${after}, '') ON CONFLICT (days) DO NOTHING`

export const allReminders = () => sql<ReminderState>`SELECT days, last_date, last_name FROM reminders`

export const reminderState = (days: number, lock: Sql = empty) => sql<ReminderState>`
  SELECT days, last_date, last_name FROM reminders WHERE days = ${days} ${lock}`

export const endReminders = (days: number) => sql`DELETE FROM reminders WHERE days = ${days}`

export const advanceReminders = ({ days, last_date, last_name }: ReminderState) => sql`
  UPDATE reminders SET last_date = ${last_date}, last_name = ${last_name} WHERE days = ${days}`

/** The filters of watches that remind, as they are stored. In a value, the quotes of the name would be escaped. */
export const remindingFilters = () => sql<{ filters: string }>`
  SELECT filters FROM watches WHERE filters LIKE ${'%"remind":"%'}`

export interface DueRecord {
  readonly name: string
  readonly date_reg: string
  readonly status_at: string | null
}

/** Selects bought records after the last one, registered in a span, both ends included. */
export const dueRecords = (
  { last_date, last_name }: ReminderState,
  { since, until }: { readonly since: string; readonly until: string },
  count: number,
) => sql<DueRecord>`
  SELECT name, date_reg, status_at FROM domains
  WHERE status = 1 AND date_reg_known = 1 AND date_reg >= ${since} AND date_reg <= ${until}
    AND (date_reg, name) > (${last_date}, ${last_name})
  ORDER BY date_reg, name ${limit(count)}`

/** Adds changes of the topic `objection` to the change log, at a time of the service's clock. */
export const insertReminders = (dialect: Dialect, days: number, names: readonly string[], now: number) => sql`
  INSERT INTO changes (at, topic, kind, key, after)
  SELECT CAST(${now} AS BIGINT), 'objection', CAST(${String(days)} AS TEXT), name,
    ${dialect.jsonArray(DOMAIN_FIELDS.map((column) => raw(column)))}
  FROM domains WHERE ${isOneOf(dialect, sql`name`, names)} ORDER BY date_reg, name`

/** A domain's columns as a change stores them; a trigger writes them as a JSON array. */
const DOMAIN_COLUMNS = [
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'date_mod',
  'released_at',
]

export const domain = (row: string): string => DOMAIN_COLUMNS.map((column) => `${row}.${column}`).join(', ')

/** Every column of an image that an update can change, except `ip`: erasing an address is not a change of the image. */
export const IMAGE_COLUMNS = 'name, name_folded, date, expires'

/** Seconds in a day: `images.date` counts seconds, in UTC. */
export const DAY = 86_400

/** Updates usage per day and type of the images with a blob's bytes. Both engines accept it. */
const usage = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, ${row}.mime, ${sign} * count(*), ${sign} * count(*) * ${row}.size
      FROM images WHERE hash = ${row}.hash GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (account_id, day, mime) DO UPDATE
        SET images = image_usage.images + excluded.images, bytes = image_usage.bytes + excluded.bytes;`

/** Recounts the images of a blob whose type or size was replaced. */
export const RECOUNT_BLOB = `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, 0, NEW.size - OLD.size FROM images WHERE hash = NEW.hash ORDER BY 1
      ON CONFLICT (account_id) DO UPDATE SET bytes = image_totals.bytes + excluded.bytes;
      ${usage('OLD', -1)}
      ${usage('NEW', 1)}`

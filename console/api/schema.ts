// Generated from openapi.json by npm run openapi. Do not edit.

export interface Operations {
  'GET /api/v1/domainwatch/key': {
    query: {  }
    answer: { status: 200; account: string; service: "domainwatch"; scope: "read" | "write" | "full"; expires: number | null; rate: string | null }
  }
  'GET /api/v1/imagestore/key': {
    query: {  }
    answer: { status: 200; account: string; service: "imagestore"; scope: "read" | "upload" | "full"; expires: number | null; rate: string | null }
  }
  'GET /api/v1/admin/key': {
    query: {  }
    answer: { status: 200; account: string; service: "admin"; scope: "full"; expires: number | null; rate: string | null }
  }
  'POST /api/v1/domainwatch/add': {
    query: {  }
    body: { data: ({ domain: string; length: number; reserve: number; status: number; date_reg: string; agent?: string })[] | string }
    answer: { status: 200; count: number }
  }
  'POST /api/v1/domainwatch/update': {
    query: {  }
    body: { data: ({ domain: string; revision?: number; discarded?: number; reserve?: number; status?: number; agent?: string; seen?: number; note?: string; tags?: (string)[]; expect?: { status?: number; reserved?: number; revision?: number; discarded?: number; seen?: number; date_mod?: string } })[] | string }
    answer: { status: 200; count: number }
  }
  'GET /api/v1/domainwatch/list': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; last_register?: number; last_deleted?: number; order?: "registered" | "deleted" | "modified" | "name" | "length"; sort?: "asc" | "desc"; limit?: number; cursor?: string; fields?: string }
    answer: { status: 200; count: number; query: string; data: (({ name: string; length: number; agent: string; status: number; reserved: number; revision: number; discarded: number; date_reg: string; date_mod: string; seen?: number; seen_by?: string | null; seen_at?: string | null; note?: string; tags?: (string)[]; words?: (string)[]; deleted_at?: string | null; discarded_at?: string | null; claimed_by?: string | null; claimed_until?: string | null })[])[] }
  }
  'GET /api/v1/domainwatch/export': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; last_register?: number; last_deleted?: number; order?: "registered" | "deleted" | "modified" | "name" | "length"; sort?: "asc" | "desc"; format?: "csv" | "ndjson"; fields?: string }
    answer: unknown
  }
  'POST /api/v1/domainwatch/queue': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; limit?: number; order?: "registered" | "deleted" | "modified" | "name" | "length"; sort?: "asc" | "desc"; fields?: string }
    body: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; limit?: number; order?: "registered" | "deleted" | "modified" | "name" | "length"; sort?: "asc" | "desc"; fields?: string }
    answer: { status: 200; count: number; remaining: number; until: string; data: (({ name: string; length: number; agent: string; status: number; reserved: number; revision: number; discarded: number; date_reg: string; date_mod: string; seen?: number; seen_by?: string | null; seen_at?: string | null; note?: string; tags?: (string)[]; words?: (string)[]; deleted_at?: string | null; discarded_at?: string | null; claimed_by?: string | null; claimed_until?: string | null })[])[] }
  }
  'GET /api/v1/domainwatch/queue': {
    query: {  }
    answer: { status: 200; count: number; data: ({ account: string; count: number; until: string })[] }
  }
  'DELETE /api/v1/domainwatch/queue': {
    query: { data?: string }
    answer: { status: 200; count: number }
  }
  'GET /api/v1/domainwatch/similar': {
    query: { domain?: string; limit?: number }
    answer: { status: 200; count: number; query: string; data: (({ name: string; length: number; agent: string; status: number; reserved: number; revision: number; discarded: number; date_reg: string; date_mod: string; reason: "accent" | "homoglyph" | "hyphenation" | "transposition" | "repetition" | "plural" | "vowel-swap" | "replacement" | "bitsquatting" | "omission" | "insertion" | "addition" | "word" | "subdomain"; detail: string; score: number })[])[] }
  }
  'GET /api/v1/domainwatch/stats': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; agents?: number; rising?: number; tags?: number }
    answer: { status: 200; from: string; to: string; days: { date: (string)[]; registered: (number)[]; deleted: (number)[] }; lengths: { length: (number)[]; count: (number)[] }; agents: { agent: (string)[]; count: (number)[]; others: number }; totals: { records: number; bought: number; deleted: number; reserved: number; revision: number; discarded: number }; words?: { word: (string)[]; week: (number)[]; mean: (number)[] }; tags?: { tag: (string)[]; count: (number)[] }; feeds: { account: (string)[]; last_add: (string | null)[] } }
  }
  'GET /api/v1/domainwatch/history': {
    query: { domain?: string; limit?: number; cursor?: string }
    answer: { status: 200; domain: string; count: number; data: ({ date: string; account: string | null; kind: "added" | "changed" | "discarded" | "restored" | "deleted"; from: Record<string, string | number | (string)[] | null> | null; to: Record<string, string | number | (string)[] | null> | null })[]; dns: ({ status: 200 | 404; dns: (string)[]; first: string; last: string })[]; mx: ({ mx: ({ preference: number; exchange: string })[]; first: string; last: string })[] }
  }
  'GET /api/v1/domainwatch/feeds': {
    query: {  }
    answer: { status: 200; count: number; data: ({ name: string; host: string; format: "registrations" | "deletions" | "csv" | "ndjson" | "auto"; every: string; account: string; last_attempt: string | null; last_success: string | null; last_change: string | null; read: number | null; changed: number | null; refused: number | null; error: string | null; stale: 0 | 1 })[] }
  }
  'GET /api/v1/domainwatch/dns': {
    query: { domain?: string; types?: string }
    answer: { status: 200; domain: string; dns: (string)[]; records?: { ns?: (string)[]; a?: (string)[]; aaaa?: (string)[]; mx?: ({ preference: number; exchange: string })[]; txt?: (string)[]; soa?: ({ mname: string; rname: string; serial: number; refresh: number; retry: number; expire: number; minimum: number })[]; caa?: ({ flags: number; tag: string; value: string })[] }; errors?: Record<string, { status: 502 | 503 | 504; msg: string }> }
  }
  'POST /api/v1/domainwatch/dns': {
    query: { types?: string }
    body: { types?: string; data: (string)[] | string }
    answer: unknown
  }
  'GET /api/v1/domainwatch/events': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; last_event_id?: string; format?: "sse" | "atom"; limit?: number; changes?: "all" | "dns" | "all,dns" }
    answer: unknown
  }
  'POST /api/v1/domainwatch/watches': {
    query: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; similar?: string; dns?: number; name?: string; changes?: "new" | "all" | "dns" | "new,dns" | "all,dns"; url?: string; language?: "es" | "en"; digest?: string; atom?: string; shared?: number }
    body: { search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; similar?: string; dns?: number; name?: string; changes?: "new" | "all" | "dns" | "new,dns" | "all,dns"; url?: string; language?: "es" | "en"; digest?: string; atom?: string; shared?: number }
    answer: { status: 200; id: string; secret: string | null; atom: string | null }
  }
  'GET /api/v1/domainwatch/watches': {
    query: {  }
    answer: { status: 200; count: number; data: ({ id: string; name: string; filters: Record<string, string>; changes: "new" | "all" | "dns" | "new,dns" | "all,dns"; owner: string; shared: number; paused: number; created: string; url: string | null; to: string | null; language: "es" | "en"; digest: string | null; next_digest: string | null; atom: number; state: "active" | "dead"; pending: number; attempts: number; next_attempt: string | null; last_delivery: string | null; last_error: string | null; last_error_at: string | null; destinations: ({ channel: "webhook" | "telegram" | "ntfy" | "discord" | "slack" | "mailto"; to: string; state: "active" | "dead"; pending: number; attempts: number; next_attempt: string | null; last_delivery: string | null; last_error: string | null; last_error_at: string | null })[] })[] }
  }
  'DELETE /api/v1/domainwatch/watches': {
    query: { id?: string }
    answer: { status: 200; id: string }
  }
  'POST /api/v1/domainwatch/watches/test': {
    query: { id?: string }
    body: { id?: string }
    answer: { status: 200; id: string; delivered: number; code: number | null; error: string | null; data: ({ channel: "webhook" | "telegram" | "ntfy" | "discord" | "slack" | "mailto"; to: string; delivered: number; code: number | null; error: string | null })[] }
  }
  'POST /api/v1/domainwatch/watches/update': {
    query: { id?: string; search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; similar?: string; dns?: number; name?: string; changes?: "new" | "all" | "dns" | "new,dns" | "all,dns"; url?: string; language?: "es" | "en"; digest?: string; atom?: string; shared?: number; paused?: number }
    body: { id?: string; search?: string; agent?: string; starts?: string; ends?: string; pattern?: string; length?: number; min_length?: number; max_length?: number; from?: string; to?: string; modified_from?: string; modified_to?: string; deleted_from?: string; deleted_to?: string; hyphen?: number; digits?: number; idn?: number; status?: number; reserve?: string; rev?: string; dis?: string; reserved?: number; revision?: number; discarded?: number; seen?: number; tag?: string; words?: number; word?: string; similar?: string; dns?: number; name?: string; changes?: "new" | "all" | "dns" | "new,dns" | "all,dns"; url?: string; language?: "es" | "en"; digest?: string; atom?: string; shared?: number; paused?: number }
    answer: { status: 200; id: string; secret: string | null; atom: string | null }
  }
  'POST /api/v1/domainwatch/watches/rotate': {
    query: { id?: string }
    body: { id?: string }
    answer: { status: 200; id: string; secret: string; until: string; until_utc: string }
  }
  'GET /api/v1/domainwatch/watches/deliveries': {
    query: { id?: string; limit?: number; cursor?: string }
    answer: { status: 200; count: number; data: ({ id: string; time: string; time_utc: string; channel: string; events: number; state: "pending" | "delivered" | "failed"; attempts: number; code: number | null; milliseconds: number | null; error: string | null; replayable: number; replaying: number })[] }
  }
  'POST /api/v1/domainwatch/watches/replay': {
    query: { id?: string; delivery?: string }
    body: { id?: string; delivery?: string }
    answer: { status: 200; id: string; delivery: string }
  }
  'POST /api/v1/imagestore/upload': {
    query: {  }
    body: { image: string; info: { name: string; mime: string; ip: string; expires?: number } | string }
    answer: { status: 200; hash: string; dhash: string; size: number; width: number; height: number; thumbhash: string | null; similar: number | null }
  }
  'GET /api/v1/imagestore/get': {
    query: { hash?: string }
    answer: { status: 200; name: string; hash: string; mime: string; width: number; height: number; size: number; date: number; thumbhash: string | null; expires: number | null }
  }
  'POST /api/v1/imagestore/delete': {
    query: { hash?: string }
    body: { hash?: string }
    answer: { status: 200; hash: string }
  }
  'DELETE /api/v1/imagestore/delete': {
    query: { hash?: string }
    answer: { status: 200; hash: string }
  }
  'GET /api/v1/imagestore/list': {
    query: { search?: string; group?: string; limit?: number; cursor?: string }
    answer: { status: 200; count: number; data: ({ name: string; hash: string; mime: string; width: number; height: number; size: number; dhash: string; thumbhash: string | null; date: number; expires: number | null; duplicates?: number })[] }
  }
  'GET /api/v1/imagestore/similar': {
    query: { hash?: string; dhash?: string; distance?: number; limit?: number }
    answer: { status: 200; count: number; dhash: string; data: ({ name: string; hash: string; mime: string; width: number; height: number; size: number; dhash: string; thumbhash: string | null; date: number; expires: number | null; distance: number })[] }
  }
  'GET /api/v1/imagestore/stats': {
    query: { days?: number }
    answer: { status: 200; images: number; bytes: number; max_images: number | null; max_bytes: number | null; derivatives: { bytes: number; max_bytes: number }; kinds: ({ mime: string; images: number; bytes: number })[]; days: ({ day: string; images: number; bytes: number })[] }
  }
  'GET /api/v1/admin/accounts': {
    query: {  }
    answer: { status: 200; count: number; data: ({ account: string; service: "domainwatch" | "imagestore" | "admin"; date: number | null; keys: number; images: number; bytes: number; max_images: number | null; max_bytes: number | null; delivery: "open" | "ladder" | "presets" | "signed" | null; used: number | null })[] }
  }
  'POST /api/v1/admin/limits': {
    query: { account?: string; max_images?: string; max_bytes?: string; delivery?: "open" | "ladder" | "presets" | "signed" }
    body: { account?: string; max_images?: string; max_bytes?: string; delivery?: "open" | "ladder" | "presets" | "signed" }
    answer: { status: 200; account: string; max_images: number | null; max_bytes: number | null; delivery: "open" | "ladder" | "presets" | "signed" }
  }
  'POST /api/v1/admin/settle': {
    query: { account?: string; max_images?: string; max_bytes?: string; delivery?: "open" | "ladder" | "presets" | "signed" }
    body: { account?: string; max_images?: string; max_bytes?: string; delivery?: "open" | "ladder" | "presets" | "signed" }
    answer: { status: 200; account: string; max_images: number | null; max_bytes: number | null; delivery: "open" | "ladder" | "presets" | "signed" }
  }
  'GET /api/v1/admin/keys': {
    query: {  }
    answer: { status: 200; count: number; data: ({ id: string; account: string; service: "domainwatch" | "imagestore" | "admin"; date: number; used: number | null; revoked: number | null; scope: "read" | "write" | "full" | "upload"; expires: number | null; rate: string | null })[] }
  }
  'POST /api/v1/admin/create': {
    query: { account?: string; service?: "domainwatch" | "imagestore" | "admin"; scope?: "read" | "write" | "full" | "upload"; expires?: string; rate?: string }
    body: { account?: string; service?: "domainwatch" | "imagestore" | "admin"; scope?: "read" | "write" | "full" | "upload"; expires?: string; rate?: string }
    answer: { status: 200; id: string; key: string; account: string; service: "domainwatch" | "imagestore" | "admin"; scope: "read" | "write" | "full" | "upload"; expires: number | null; rate: string | null }
  }
  'POST /api/v1/admin/revoke': {
    query: { id?: string }
    body: { id?: string }
    answer: { status: 200; id: string }
  }
  'GET /api/v1/admin/system': {
    query: {  }
    answer: { status: 200; version: string; started: number; time_zone: string; database: "sqlite" | "postgres"; blobs: "files" | "s3"; ready: { database: boolean; blobs: boolean }; domains: number; images: number; bytes: number; settings: ({ name: string; value: string; from: "flag" | "environment" | "file" | "default" })[]; figures: {  } }
  }
}

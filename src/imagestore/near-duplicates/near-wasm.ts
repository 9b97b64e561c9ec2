// Made from assembly/near.ts by scripts/build-wasm.ts; do not edit.
export const nearWasm =
  'AGFzbQEAAAABCwFgBn9/f39/fwF/Ag8BA2VudgZtZW1vcnkCAAADAgEABxECBG5lYXIAAAZtZW1vcnkCAApPAU0CAn8BfiACrSAD' +
  'rUIghoQhCANAIAEgBkoEQCAFIAdBAnRqIAY2AgAgByAAIAZBA3RqKQMAIAiFe6cgBExqIQcgBkEBaiEGDAELCyAHCw=='

// A decoder of lspz's compact form, all kinds of messages, without dependencies. docs/compact_format.md describes the form.
//
//   import { decode } from "./lspz.ts";
//   const params = decode("textDocument/publishDiagnostics", received);
//
// What comes back is standard LSP. Plain LSP comes back as it is. A client that asks for only what changed in diagnostics
// reads them with a DiagnosticsReceiver. Integers beyond 2^53 lose digits, as everywhere in JavaScript.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Members = { [name: string]: Json };

/** The newest format version that this decoder reads. */
export const VERSION = 1;

/** A message cannot be read; the text says where and why. */
export class DecodeError extends Error {}

/** Only what changed came, and the report before it did not: ask for lspz/original, and the next report is full. */
export class ReportLost extends Error {
  constructor(readonly uri: string, reason: string) {
    super(`${uri}: ${reason}`);
  }
}

/** Standard LSP from the params of a notification, or the result of a request, of this method. */
export function decode(method: string, value: Json): Json {
  const read = READERS[method];
  if (read === undefined || !isMembers(value)) return value;
  if (method === "$/progress") return progress(value);
  if (!isCompact(method, value)) return value;
  if (typeof value.version !== "number") fail("version", "is missing");
  if (value.version > VERSION) fail("version", `${value.version} is newer than ${VERSION}, the newest this decoder reads`);
  if ("format" in value && "text" in value) fail("format", `is ${JSON.stringify(value.format)}: this decoder reads compact`);
  if ("kept" in value && !("diagnostics" in value)) fail("kept", "says only what changed since the report before");
  return read(value);
}

const READERS: { [method: string]: (value: Members) => Json } = {
  "textDocument/publishDiagnostics": published,
  "textDocument/diagnostic": pulled,
  "workspace/diagnostic": workspace,
  "$/progress": progress,
  "textDocument/completion": completion,
  "textDocument/hover": hover,
  "textDocument/documentSymbol": outline,
  "textDocument/references": locations,
  "textDocument/definition": locations,
  "textDocument/declaration": locations,
  "textDocument/implementation": locations,
  "textDocument/typeDefinition": locations,
  "workspace/symbol": found,
};

function isCompact(method: string, value: Members): boolean {
  if (method === "workspace/diagnostic") return "version" in value && !("kind" in value);
  if (method !== "textDocument/publishDiagnostics" && method !== "textDocument/diagnostic") return "version" in value;
  if ("format" in value && "text" in value) return true;
  if ("report" in value && "kept" in value) return true;
  if (!("uri" in value)) {
    return !("items" in value) && value.kind === "full" && ("version" in value || "diagnostics" in value);
  }
  if ("omitted" in value || "filtered" in value) return true;
  const first = Array.isArray(value.diagnostics) ? value.diagnostics[0] : undefined;
  return isMembers(first) && "r" in first && !("range" in first);
}

// Diagnostics

const SEVERITIES: { [letter: string]: number } = { E: 1, W: 2, I: 3, H: 4 };
const TAGS: { [letter: string]: number } = { U: 1, D: 2 };
const ENTRY = new Set(["m", "s", "r", "c", "t", "n", "mk"]);
const NOT_LSP = new Set(["version", "documentVersion", "diagnostics", "delta", "omitted", "filtered", "report"]);

type Span = [number, number, number, number];

function published(value: Members): Json {
  const out: Members = { uri: text(value.uri, "uri") };
  if ("documentVersion" in value) out.version = integer(value.documentVersion, "documentVersion");
  for (const [name, member] of Object.entries(value)) if (!NOT_LSP.has(name) && name !== "uri") out[name] = member;
  return { ...out, diagnostics: diagnostics(value) };
}

function pulled(value: Members): Json {
  const out: Members = { kind: "full" };
  if ("resultId" in value) out.resultId = text(value.resultId, "resultId");
  for (const [name, member] of Object.entries(value)) {
    if (!NOT_LSP.has(name) && !["kind", "resultId", "relatedDocuments"].includes(name)) out[name] = member;
  }
  out.items = diagnostics(value);
  const related = "relatedDocuments" in value ? members(value.relatedDocuments, "relatedDocuments") : {};
  const reports: Members = {};
  for (const [uri, file] of Object.entries(related)) {
    const report = members(file, `relatedDocuments[${uri}]`);
    reports[uri] = report.kind === "unchanged" ? unchanged(report) : full(report, diagnostics({ ...report, delta: value.delta ?? true }));
  }
  return Object.keys(reports).length ? { ...out, relatedDocuments: reports } : out;
}

function full(file: Members, items: Json[]): Members {
  return { kind: "full", ...("resultId" in file ? { resultId: file.resultId } : {}), items };
}

function unchanged(file: Members): Members {
  return { kind: "unchanged", ...("resultId" in file ? { resultId: file.resultId } : {}) };
}

function diagnostics(value: Members): Json[] {
  return list(value.diagnostics, "diagnostics").flatMap((item, i) => {
    const entry = members(item, `diagnostics[${i}]`);
    return expand(entry, ranges(entry.r, value.delta !== false, `diagnostics[${i}].r`), `diagnostics[${i}]`);
  });
}

function ranges(value: Json | undefined, delta: boolean, path: string): Span[] {
  let before: Span = [0, 0, 0, 0];
  const rows = list(value, path);
  if (rows.length === 0) fail(path, "must hold at least one range");
  return rows.map((row, i) => {
    const numbers = integers(row, `${path}[${i}]`);
    if (numbers.length !== 4) fail(`${path}[${i}]`, "must be four integers");
    before = numbers.map((number, j) => (delta ? number + before[j] : number)) as Span;
    return before;
  });
}

function expand(entry: Members, spans: Span[], path: string): Members[] {
  const message = text(entry.m, `${path}.m`);
  const shared: Members = { message: "mk" in entry ? { kind: entry.mk, value: message } : message };
  if ("s" in entry) shared.severity = typeof entry.s === "string" ? SEVERITIES[entry.s] ?? fail(`${path}.s`, "is no severity") : entry.s;
  if ("c" in entry) shared.code = entry.c;
  for (const [name, member] of Object.entries(entry)) if (!ENTRY.has(name)) shared[name] = member;
  if ("t" in entry) {
    const tags = typeof entry.t === "string" ? entry.t.split(",") : list(entry.t, `${path}.t`);
    shared.tags = tags.map((tag) => (typeof tag === "string" ? TAGS[tag] ?? Number(tag) : tag));
  }
  return spans.map((span) => ({ range: range(span), ...shared }));
}

function workspace(value: Members): Json {
  const files = list(value.files, "files").map((file, i) => members(file, `files[${i}]`));
  const items: Json[][] = files.map(() => []);
  list(value.diagnostics, "diagnostics").forEach((item, i) => {
    const path = `diagnostics[${i}]`;
    const entry = members(item, path);
    for (const [name, rows] of Object.entries(members(entry.r, `${path}.r`))) {
      const file = items[Number(name)] ?? fail(`${path}.r`, `there is no file ${name}`);
      file.push(...expand(entry, ranges(rows, true, `${path}.r[${name}]`), path));
    }
  });
  return {
    items: files.map((file, i) => ({
      uri: text(file.uri, `files[${i}].uri`),
      version: file.documentVersion ?? null,
      ...(file.kind === "unchanged" ? unchanged(file) : full(file, items[i])),
    })),
  };
}

function progress(value: Members): Json {
  if (!isMembers(value.value) || !isCompact("workspace/diagnostic", value.value)) return value;
  return { token: value.token, value: decode("workspace/diagnostic", value.value) };
}

// Only what changed

type Report = { number: number; diagnostics: Members[] | null };

/** Reads diagnostics of which lspz says only what changed: published params, and pulled reports. */
export class DiagnosticsReceiver {
  private readonly last = new Map<string, Report>();

  /** The whole params or report. `uri` is the document of a pulled report. Throws ReportLost and DecodeError. */
  receive(method: string, value: Json, uri = ""): Json {
    if (!isMembers(value) || value.kind === "unchanged") return value;
    if (method === "textDocument/publishDiagnostics") uri = typeof value.uri === "string" ? value.uri : "";
    const key = `${method} ${uri}`;
    const before = this.last.get(key);
    const number = (before?.number ?? 0) + 1;
    try {
      if ("report" in value && "kept" in value) {
        const changed = this.apply(before, value, uri);
        this.last.set(key, { number: integer(value.report, "report"), diagnostics: changed });
        return whole(value, changed);
      }
      const decoded = decode(method, value);
      const found = decoded === value || !isMembers(decoded) ? null : (decoded.diagnostics ?? decoded.items);
      const own = typeof value.report === "number" ? value.report : number;
      this.last.set(key, { number: own, diagnostics: (found as Members[] | null) ?? null });
      return decoded;
    } catch (error) {
      this.last.delete(key);
      throw error;
    }
  }

  private apply(before: Report | undefined, value: Members, uri: string): Members[] {
    if (typeof value.version === "number" && value.version > VERSION) fail("version", `${value.version} is too new`);
    if (!before?.diagnostics || before.number !== integer(value.report, "report") - 1) {
      throw new ReportLost(uri, `report ${value.report} follows one that did not arrive`);
    }
    const gone = new Map<string, number>();
    for (const diagnostic of entries(value, "gone")) {
      const text = JSON.stringify(diagnostic);
      gone.set(text, (gone.get(text) ?? 0) + 1);
    }
    const moves = list(value.moved ?? [], "moved").map((move, i) => integers(move, `moved[${i}]`));
    const kept: Members[] = [];
    for (const diagnostic of before.diagnostics) {
      const text = JSON.stringify(diagnostic);
      const left = gone.get(text) ?? 0;
      if (left > 0) gone.set(text, left - 1);
      else kept.push(moved(diagnostic, moves));
    }
    if (kept.length !== value.kept || [...gone.values()].some((left) => left > 0)) {
      throw new ReportLost(uri, `${kept.length} diagnostics are kept where ${value.kept} should be`);
    }
    return [...kept, ...entries(value, "add")];
  }
}

function entries(value: Members, name: string): Members[] {
  return name in value ? (diagnostics({ diagnostics: value[name] }) as Members[]) : [];
}

/** A diagnostic whose lines moved: each end by the last move that begins at or above it. */
function moved(diagnostic: Members, moves: number[][]): Members {
  if (moves.length === 0) return diagnostic;
  const at = diagnostic.range as { [end: string]: { line: number; character: number } };
  const shift = (line: number) => line + (moves.filter(([first]) => first <= line).pop()?.[1] ?? 0);
  const span: Span = [shift(at.start.line), at.start.character, shift(at.end.line), at.end.character];
  return { ...diagnostic, range: range(span) };
}

function whole(value: Members, found: Members[]): Json {
  if (!("uri" in value)) return full(value, found);
  return { uri: value.uri, ...("documentVersion" in value ? { version: value.documentVersion } : {}), diagnostics: found };
}

// Completion

const SNIPPET = 2;
const DEPRECATED = 1;
const DATA_URI = /data:#([0-9]+)|data:[\p{L}\p{N}_/+.-]+;base64,[A-Za-z0-9+/=%]{40,}/gu;

function completion(value: Members): Json {
  let docs = "docs" in value ? list(value.docs, "docs").map((doc, i) => text(doc, `docs[${i}]`)) : [];
  if (value.shared === true) docs = unshare(docs);
  const items: Json[] = [];
  for (const [kind, group] of Object.entries(members(value.items, "items"))) {
    list(group, `items[${kind}]`).forEach((item, i) => {
      const out = completionItem(item, Number(kind), docs, `items[${kind}][${i}]`);
      // with this, lspz finds the server's own item for completionItem/resolve
      if ("list" in value) out.data = { lspz: [value.list, i] };
      items.push(out);
    });
  }
  return { isIncomplete: value.incomplete === true, items };
}

function completionItem(value: Json, kind: number, docs: string[], path: string): Members {
  const item = typeof value === "string" ? { l: value } : members(value, path);
  const out: Members = { label: text(item.l, `${path}.l`) };
  const details: Members = {};
  if (item.s) details.detail = item.s;
  if (item.f) details.description = item.f;
  if (Object.keys(details).length) out.labelDetails = details;
  if (kind) out.kind = kind;
  if (item.x) out.tags = [DEPRECATED];
  if (item.d) out.detail = item.d;
  if (item.o !== undefined) {
    const doc = docs[integer(item.o, `${path}.o`)] ?? fail(`${path}.o`, `there is no documentation ${item.o}`);
    if (doc) out.documentation = doc;
  }
  const insert = item.t ?? item.i;
  if (insert !== undefined) out.insertText = insert;
  if (item.t !== undefined) out.insertTextFormat = SNIPPET;
  return out;
}

/** Documentation in which `data:#n` stands for the nth data URI that came before. */
function unshare(docs: string[]): string[] {
  const seen: string[] = [];
  return docs.map((doc) =>
    doc.replace(DATA_URI, (found, number) => {
      if (number === undefined) {
        seen.push(found);
        return found;
      }
      return seen[Number(number) - 1] ?? fail("docs", `${found} repeats a data URI that did not come`);
    }),
  );
}

// The others

function hover(value: Members): Json {
  const contents = { kind: "markdown", value: text(value.m, "m") };
  return "r" in value ? { contents, range: range(integers(value.r, "r") as Span) } : { contents };
}

function outline(value: Members): Json {
  const roots: Json[] = [];
  const path: Members[] = [];
  let line = 0;
  list(value.symbols, "symbols").forEach((item, i) => {
    const at = `symbols[${i}]`;
    const row = list(item, at);
    const numbers = [row[0], ...row.slice(2, 9)].map((cell) => integer(cell, at));
    const [kind, depth, down, char, lines = 0, end = 0, up = 0, left = 0] = numbers;
    const label = text(row[1], at);
    const [extra, deprecated] = [row[9] ?? "", row[10] === 1];
    line += down;
    const span: Span = [line - up, char + left, line + lines, end + char + (lines === 0 ? length(label) : 0)];
    const symbol: Members = { name: label, kind };
    if (deprecated) symbol.tags = [DEPRECATED];
    if ("uri" in value) {
      symbol.location = { uri: value.uri, range: range(span) };
      if (extra) symbol.containerName = extra;
      roots.push(symbol);
      return;
    }
    if (extra) symbol.detail = extra;
    symbol.range = range(span);
    symbol.selectionRange = range(selection(line, char, length(label), span));
    if (depth > path.length) fail(at, "is deeper than one below the symbol before");
    path.length = depth;
    if (depth === 0) roots.push(symbol);
    else ((path[depth - 1].children ??= []) as Json[]).push(symbol);
    path.push(symbol);
  });
  return roots;
}

/** A name at a place: as long as it is, but not beyond the end of its symbol. */
function selection(line: number, char: number, size: number, symbol: Span): Span {
  let end = [line, char + size];
  if (isBefore([symbol[2], symbol[3]], end)) end = [symbol[2], symbol[3]];
  if (isBefore(end, [line, char])) end = [line, char];
  return [line, char, end[0], end[1]];
}

function isBefore(a: number[], b: number[]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

function locations(value: Members): Json {
  const places: { uri: string; at: Span; target?: Span }[] = [];
  for (const [uri, rows] of Object.entries(members(value.locations, "locations"))) {
    let line = 0;
    let size: number | undefined;
    list(rows, `locations[${uri}]`).forEach((item, i) => {
      const path = `locations[${uri}][${i}]`;
      const row = integers(item, path);
      const link = row.length > 4 ? row.splice(-4) : undefined;
      line += row[0];
      let at: Span;
      if (row.length === 4) at = [line, row[1], line + row[2], row[3]];
      else {
        const own = row[2] ?? size ?? fail(path, "leaves its length to the row before, and there is none");
        if (link === undefined) size = own;
        at = [line, row[1], line, row[1] + own];
      }
      places.push({ uri, at, ...(link && { target: [line - link[0], link[1], line + link[2], link[3]] as Span }) });
    });
  }
  if (!places.some((place) => place.target)) return places.map(({ uri, at }) => ({ uri, range: range(at) }));
  return places.map(({ uri, at, target }) => ({
    targetUri: uri,
    targetRange: range(target ?? at),
    targetSelectionRange: range(at),
  }));
}

function found(value: Members): Json {
  const out: Json[] = [];
  for (const [uri, containers] of Object.entries(members(value.symbols, "symbols"))) {
    const groups = Array.isArray(containers) ? { "": containers } : members(containers, `symbols[${uri}]`);
    for (const [container, rows] of Object.entries(groups)) {
      list(rows, `symbols[${uri}]`).forEach((item, i) => {
        const path = `symbols[${uri}][${i}]`;
        const row = list(item, path);
        const [kind, name] = [integer(row[0], path), text(row[1], path)];
        const location: Members = { uri };
        const deprecated = row.length === 3 || row.length === 7;
        const place = integers(deprecated ? row.slice(2, -1) : row.slice(2), path);
        if (place.length) {
          const [line, char, down = 0, end = 0] = place;
          location.range = range([line, char, line + down, end + (down === 0 ? char + length(name) : 0)]);
        }
        const symbol: Members = { name, kind, location };
        if (container) symbol.containerName = container;
        if (deprecated) symbol.tags = [DEPRECATED];
        out.push(symbol);
      });
    }
  }
  return out;
}

// Reading

function range([a, b, c, d]: Span): Json {
  return { start: { line: a, character: b }, end: { line: c, character: d } };
}

/** In code points, as the format counts names. */
function length(name: string): number {
  return [...name].length;
}

function isMembers(value: Json | undefined): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function members(value: Json | undefined, path: string): Members {
  return isMembers(value) ? value : fail(path, "must be an object");
}

function list(value: Json | undefined, path: string): Json[] {
  return Array.isArray(value) ? value : fail(path, "must be a list");
}

function text(value: Json | undefined, path: string): string {
  return typeof value === "string" ? value : fail(path, "must be a string");
}

function integer(value: Json | undefined, path: string): number {
  return typeof value === "number" && Number.isInteger(value) ? value : fail(path, "must be an integer");
}

function integers(value: Json | undefined, path: string): number[] {
  return list(value, path).map((number) => integer(number, path));
}

function fail(path: string, reason: string): never {
  throw new DecodeError(`${path}: ${reason}`);
}

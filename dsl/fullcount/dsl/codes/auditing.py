"""FC67x: reading the OpenAPI document of an API. Their examples are sessions."""

from __future__ import annotations

from fullcount.dsl.codes.model import Code, Form
from fullcount.dsl.codes.terminal import session

_API = """\
{
  "openapi": "3.1.0",
  "info": { "title": "directory", "version": "1" },
  "paths": {
    "/users": {
      "get": {
        "operationId": "users",
        "responses": {
          "200": {
            "description": "all users",
            "content": { "application/json": { "schema": { "type": "array", "items": { "type": "object" } } } }
          }
        }
      }
    }
  }
}
"""


CODES: tuple[Code, ...] = (
    Code(
        id="FC676",
        title="the description of an API can't be read",
        explanation="""\
`fullcount audit-openapi` reads JSON or YAML 1.2 in UTF-8. The message says what is wrong and where: broken syntax, a
key that comes twice (readers keep one of them, and nobody knows which), a number that is none, a tag, nesting without
end, or aliases by which a small file stands for a huge one. Nothing of such a document is judged: half a document would
leave out operations without a word.

Mend the document, or write it anew with the tool that it comes from.""",
        form=Form.COMMAND,
        wrong=session("fullcount audit-openapi api.json"),
        right=session("fullcount audit-openapi api.json"),
        files=(("api.json", _API),),
        wrong_files=(("api.json", _API.replace('"info"', '"openapi": "3.0.3",\n  "info"')),),
    ),
    Code(
        id="FC677",
        title="the document is none of OpenAPI",
        explanation="""\
The file can be read, and is not what an audit needs: it has neither `openapi` nor `swagger`, is in a version that is
not known (3.x and Swagger 2.0 are), or describes no operation. An audit of nothing would end well and prove nothing.

Give the document of the API itself: not a page about it, not an AsyncAPI or GraphQL schema, and not a part that another
document refers to.""",
        form=Form.COMMAND,
        wrong=session("fullcount audit-openapi api.json"),
        right=session("fullcount audit-openapi api.json"),
        files=(("api.json", _API),),
        wrong_files=(("api.json", _API.replace('"openapi"', '"asyncapi"')),),
    ),
    Code(
        id="FC678",
        title="what reads YAML is not installed",
        explanation="""\
A description of an API in YAML needs a library that comes with `pip install 'fullcount[openapi]'`. A document in JSON
needs nothing: most APIs publish both.""",
    ),
    Code(
        id="FC679",
        title="there is no such operation in the audit",
        explanation="""\
`--operation` names one operation of the report, as `GET /path` or by its `operationId`. Operations that return one
object are not part of an audit. `--dialect` needs one that returns a list of JSON: a stream or a single number is not
read by a dialect.""",
        form=Form.COMMAND,
        wrong=session("fullcount audit-openapi api.json --operation user"),
        right=session("fullcount audit-openapi api.json --operation users"),
        files=(("api.json", _API),),
    ),
)

"""Makes the files that the tests of the extractors read, with the programs that people make such files with.

Usage: make.py, in this folder, with a Python that has fpdf2 2.8, odfpy 1.4, openpyxl 3.1, pillow 13, python-docx 1.2,
python-pptx 1.0, reportlab 5.1 and weasyprint 70, and with ghostscript, qpdf and the font DejaVu Sans on the machine. The files
are committed: other versions make other bytes, and the tests are about these.
"""

import datetime
import os
import subprocess
import zipfile

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
GERMAN = "Der schnelle Fuchs springt über den faulen Hund. Effizienz und Flügel sind offiziell. "


def pdfs():
    import weasyprint
    from fpdf import FPDF
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen import canvas
    from reportlab.platypus import BaseDocTemplate, Frame, PageBreak, PageTemplate, Paragraph, SimpleDocTemplate, Table

    styles = getSampleStyleSheet()
    # Fonts that are not in the file, a table, two pages.
    report = SimpleDocTemplate("report.pdf", pagesize=A4, title="Quarterly Notes")
    report.build([Paragraph("Quarterly Notes", styles["Title"]), Paragraph(GERMAN * 3, styles["BodyText"]),
                  Table([["Name", "City", "Amount"], ["Anna", "Kyiv", "12"], ["Bert", "Lviv", "34"]]), PageBreak(),
                  Paragraph("Second page", styles["Heading1"]), Paragraph("Its only line.", styles["BodyText"])])
    columns = BaseDocTemplate("columns.pdf", pagesize=A4)
    columns.addPageTemplates([PageTemplate(frames=[Frame(40, 700, 240, 100), Frame(310, 700, 240, 100)])])
    columns.build([Paragraph(f"Column text number {n} stands here and goes on for a while.", styles["BodyText"])
                   for n in range(1, 7)])
    # What is drawn to look bold, turned, spaced out; a page that is turned; words that are broken.
    odd = canvas.Canvas("odd.pdf", pagesize=A4)
    odd.setFont("Helvetica", 12)
    for shift in (0, 0.4):
        odd.drawString(72 + shift, 700, "Drawn twice to look bold")
    odd.saveState()
    odd.translate(300, 300)
    odd.rotate(90)
    odd.drawString(0, 0, "Turned upwards")
    odd.restoreState()
    text = odd.beginText(72, 600)
    text.setCharSpace(4)
    text.textLine("Spaced out")
    text.setCharSpace(0)
    text.textLine("This word is hyphen-")
    text.textLine("ated and Anna-")
    text.textLine("Maria is not")
    odd.drawText(text)
    odd.setPageRotation(90)
    odd.showPage()
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    odd.setFont("HeiseiMin-W3", 14)
    odd.drawString(72, 700, "日本語の文章です。")
    odd.save()
    # A font that is in the file, with other scripts.
    scripts = FPDF()
    scripts.add_font("DejaVu", fname=FONT)
    scripts.add_page()
    scripts.set_font("DejaVu", size=12)
    scripts.set_title("Їжак")
    scripts.multi_cell(0, 8, "Приклад українською: їжак, ґанок.\nΕλληνικά.\nłódź ﬁne")
    scripts.output("scripts.pdf")
    html = ("<title>Weasy title</title><style>body{font-family:DejaVu Sans}</style><h1>Heading one</h1>"
            f"<p>{GERMAN * 2}</p><p>mixed שלום עולם text</p><p>مرحبا بالعالم</p>")
    weasyprint.HTML(string=html).write_pdf("web.pdf")
    subprocess.run(["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", "-sOutputFile=ghost.pdf", "report.pdf"], check=True)
    subprocess.run(["qpdf", "--encrypt", "", "owner", "256", "--", "report.pdf", "readable.pdf"], check=True)
    subprocess.run(["qpdf", "--encrypt", "user", "owner", "256", "--", "report.pdf", "locked.pdf"], check=True)
    scan = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfimage8", "-r30", "-sOutputFile=scan.pdf", "report.pdf"]
    subprocess.run(scan, check=True)


def office():
    import docx
    import openpyxl
    from pptx import Presentation
    from pptx.util import Inches

    plan = docx.Document()
    plan.core_properties.title = "Plan for spring"
    plan.add_heading("Plan for spring", 0)
    plan.add_heading("Garden", 2)
    paragraph = plan.add_paragraph("Plant ")
    paragraph.add_run("tomatoes").bold = True
    paragraph.add_run(" & basil <early>.\tSoon.")
    for item in ("dig", "water"):
        plan.add_paragraph(item, style="List Bullet")
    table = plan.add_table(rows=2, cols=2)
    for row, cells in enumerate((("Bed", "Crop"), ("North", "Kale"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    plan.add_paragraph("After the table.")
    plan.save("plan.docx")

    budget = openpyxl.Workbook()
    budget.properties.title = "Budget 2026"
    costs = budget.active
    costs.title = "Costs"
    costs.append(["Item", "Amount", "When", "Paid"])
    costs.append(["Seeds", 12.5, datetime.date(2026, 3, 1), True])
    costs.append(["Tools", 0.1 + 0.2, datetime.datetime(2026, 3, 2, 14, 30), False])
    costs["C6"] = "far"
    budget.create_sheet("Notes")["A1"] = "Line one\nline two"
    budget.save("budget.xlsx")

    talk = Presentation()
    talk.core_properties.title = "Kickoff"
    first = talk.slides.add_slide(talk.slide_layouts[1])
    first.shapes.title.text = "Why memory"
    first.placeholders[1].text = "Agents forget\nWe do not"
    first.notes_slide.notes_text_frame.text = "Say hello first"
    second = talk.slides.add_slide(talk.slide_layouts[5])
    second.shapes.title.text = "Numbers"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for row, cells in enumerate((("a", "b"), ("1", "2"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    talk.save("talk.pptx")


def table_of(rows, **named):
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    table = Table(**named)
    for cells in rows:
        row = TableRow()
        for text in cells:
            cell = TableCell(valuetype="string")
            cell.addElement(P(text=text))
            row.addElement(cell)
        table.addElement(row)
    return table


def open_formats():
    from odf import dc
    from odf.draw import Frame, Page, TextBox
    from odf.opendocument import OpenDocumentPresentation, OpenDocumentSpreadsheet, OpenDocumentText
    from odf.style import MasterPage, PageLayout
    from odf.text import H, LineBreak, List, ListItem, P, S

    letter = OpenDocumentText()
    letter.meta.addElement(dc.Title(text="Open letter"))
    letter.text.addElement(H(outlinelevel=2, text="Dear all"))
    paragraph = P(text="Dear")
    paragraph.addElement(S(c=3))
    paragraph.addText("friends,")
    paragraph.addElement(LineBreak())
    paragraph.addText("hello.")
    letter.text.addElement(paragraph)
    items = List()
    for text in ("one", "two"):
        item = ListItem()
        item.addElement(P(text=text))
        items.addElement(item)
    letter.text.addElement(items)
    letter.text.addElement(table_of((("k", "v"), ("a", "1")), name="T"))
    letter.save("letter.odt")

    book = OpenDocumentSpreadsheet()
    for name in ("Alpha", "Beta"):
        book.spreadsheet.addElement(table_of((("k", "v"), (name, "1")), name=name))
    book.save("book.ods")

    slides = OpenDocumentPresentation()
    layout = PageLayout(name="L")
    slides.automaticstyles.addElement(layout)
    master = MasterPage(name="M", pagelayoutname=layout)
    slides.masterstyles.addElement(master)
    for text in ("Hello slide", "Second slide"):
        page, frame, box = Page(masterpagename=master), Frame(width="10cm", height="2cm"), TextBox()
        box.addElement(P(text=text))
        frame.addElement(box)
        page.addElement(frame)
        slides.presentation.addElement(page)
    slides.save("slides.odp")


def epub():
    with zipfile.ZipFile("book.epub", "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("META-INF/container.xml",
                      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>')
        book.writestr("OEBPS/book.opf",
                      '<package xmlns:dc="x"><metadata><dc:title>A small book</dc:title></metadata><manifest>'
                      '<item id="b" href="two.xhtml"/><item id="a" href="text/one.xhtml"/></manifest>'
                      '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>')
        book.writestr("OEBPS/text/one.xhtml",
                      "<html><head><title>no</title></head><body><h1>Chapter one</h1><p>It was a\n dark night.</p>"
                      "<ul><li>rain</li><li>wind</li></ul></body></html>")
        book.writestr("OEBPS/two.xhtml", "<html><body><p>The end &amp; more.</p></body></html>")


def images():
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(FONT, 24)
    image = Image.new("L", (420, 110), 255)
    draw = ImageDraw.Draw(image)
    draw.text((20, 15), "Memory is the diary", font=font, fill=0)
    draw.text((20, 60), "that we all carry about", font=font, fill=0)
    for form in ("png", "jpg", "webp", "gif"):
        image.save(f"diary.{form}")
    # One bit for each pixel, so that they are small.
    for form in ("tiff", "bmp"):
        image.convert("1").save(f"diary.{form}")


os.environ["SOURCE_DATE_EPOCH"] = "0"
for make in (pdfs, office, open_formats, epub, images):
    make()

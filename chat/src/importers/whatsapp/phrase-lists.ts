// Placeholder phrases of the app in its translations: lower case, without marks, dots and angle brackets. One line for each
// group of languages.

import type { AttachmentKind } from "../../model/source.ts";

const list = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(" | "));

/** Omitted media. Android has one phrase for all kinds, iOS one for each. */
export const OMITTED: Readonly<Record<AttachmentKind | "any" | "contact", readonly string[]>> = {
  any: list(
    "media omitted | medien ausgeschlossen | medien weggelassen | multimedia omitido | archivo omitido | médias omis | fichier omis",
    "media omessi | media omesso | mídia oculta | mídia omitida | ficheiro não revelado | media weggelaten | media weggelaat",
    "media utelämnad | media utelämnat | media har utelämnats | medier udeladt | mediefil udeladt | media utelatt | uten vedlegg",
    "mediaa ei mukana | media jätettiin pois | media jätetty pois | meedia välja jäetud | meedia ära jäetud",
    "без медиафайлов | файл пропущен | медіа пропущено | без файл | без фајлови | медији су изостављени",
    "média vynechány | média vynechána | médiá vynechané | pominięto multimedia | pliki pominięto | plik pominięty",
    "conținut media omis | média elhagyva | hiányzó médiafájl | medijski zapis izostavljen | datoteke izpuščene | medij izpuščen",
    "fitxers multimèdia omesos | mitjans omesos | medija praleista | nav iekļauta multivide | bez multivides | media u hoq",
    "αρχείο παραλήφθηκε | εξαίρεση πολυμέσων | medya dahil edilmedi | medya atlanmış | media buraxıldı",
    "media tidak disertakan | media dikecualikan | media disingkirkan | bỏ qua tệp phương tiện | bỏ qua media",
    "מדיה הושמטה | המדיה לא נכללה | המדיה הוסרה | تم استبعاد الوسائط | رسانه حذف شد | پيوست نما/آهنگ حذف شد | میڈیا چھوڑ دیا گیا",
    "मीडिया छोड़ा गया | मीडिया के बिना | मीडिया वगळले | मीडिया वगळण्यात आला | মিডিয়া বাদ দেওয়া হয়েছে | ไฟล์สื่อถูกลบ | สื่อถูกลบ",
    "미디어 파일을 생략했습니다 | 미디어 파일 제외됨 | 미디어 파일을 생략한 대화내용 | メディアなし | メディアは含まれていません",
    "省略多媒體檔 | 忽略多媒體檔 | 忽略多媒体文件 | 省略多媒体文件",
  ),
  image: list(
    "image omitted | bild weggelassen | imagen omitida | image absente | immagine omessa | imagem ocultada | imagem não revelada",
    "afbeelding weggelaten | bild utesluten | billede udeladt | bilde ikke inkludert | ei kuvaa",
    "изображение опущено | изображение отсутствует | зображення відсутнє | obrázek vynechán | obrázok vynechaný | obraz pominięty",
    "imagine omisă | kép küldése sikertelen | slika izostavljena | imatge omesa | εικόνα παραλείφθηκε | görüntü dahil edilmedi",
    "gambar tidak disertakan | imej tidak dimasukkan | đã bỏ qua hình ảnh | התמונה הושמטה | لم يتم إدراج الصورة | تصویر حذف شد",
    "फ़ोटो हटाई गई | इमेज वगळली | ไม่มีรูปภาพ | 이미지 생략됨 | 画像は含まれていません | 圖片已略去 | 圖像已省略 | 照片已忽略",
  ),
  video: list(
    "video omitted | video note omitted | video weggelassen | video omitido | vidéo absente | video omesso | vídeo omitido | vídeo não revelado",
    "video weggelaten | video utesluten | video udeladt | video utelatt | videota ei sisällytetä",
    "видео опущено | видео отсутствует | відео відсутнє | video vynecháno | video vynechané | wideo pominięte",
    "clip video omis | videó kihagyva | video izostavljen | vídeo omès | βίντεο παραλείφθηκε | video dahil edilmedi",
    "video tidak disertakan | video tidak dimasukkan | đã bỏ video | סרטון הווידאו הושמט | لم يتم إدراج الفيديوهات | ویدیو حذف شد",
    "वीडियो छोड़ा गया | व्हिडीओ वगळला | วิดีโอถูกลบ | 비디오 생략됨 | ビデオは含まれていません | 影片已略去 | 影片已省略 | 视频已忽略",
    "gif omitted | gif weggelassen | gif omitido | gif retiré | gif esclusa | gif não revelada | gif weggelaten | gif utesluten",
    "gif udeladt | gif utelatt | gif-animaatio jätetty pois | gif отсутствует | gif-анімацію пропущено | gif vynechán | gif vynechaný",
    "plik gif pominięty | gif omis | gif fájl kihagyása | gif izostavljen | gif omès | παράληψη gif | gif dahil edilmedi",
    "gif tidak disertakan | gif tidak dimasukkan | đã bỏ qua ảnh gif | gif הושמט | لم يتم إدراج صورة gif | gif حذف شد",
    "gif छोड़ा गया | gif वगळले | ละเว้น gif | gif 생략됨 | gifは含まれていません | gif 已略去 | gif 圖片已被省略 | gif 动态图已被忽略",
  ),
  audio: list(
    "audio omitted | audio weggelassen | audio omitido | audio omis | audio omesso | áudio ocultado | ficheiro de áudio não revelado",
    "audio weggelaten | ljud utelslutet | ljud uteslutet | lyd udeladt | lyd utelatt | äänitiedostoa ei sisällytetä",
    "аудио опущено | аудиофайл отсутствует | аудіо відсутнє | zvukový soubor vynechán | zvuk vynechaný | audio pominięte",
    "fără audio | hang kihagyása | zvuk izostavljen | àudio omès | ήχος παραλείφθηκε | ses dahil edilmedi",
    "audio tidak disertakan | audio tidak dimasukkan | bỏ qua tệp âm thanh | קטע קול הושמט | لم يتم إدراج المقاطع الصوتية | صدا حذف شد",
    "ऑडियो हटाई गयी | ऑडिओ वगळला | ไม่มีไฟล์เสียง | 오디오 생략됨 | 音声は含まれていません | 音訊已略去 | 音訊已省略 | 音频已忽略",
  ),
  voice: list("voice message omitted | view once voice message omitted"),
  sticker: list(
    "sticker omitted | sticker weggelassen | sticker omitido | sticker omis | sticker omesso | sticker non incluso | figurinha omitida",
    "sticker não revelado | sticker weggelaten | sticker utesluten | klistermærke udeladt | klistremerke utelatt | tarraa ei sisällytetty",
    "стикер опущен | стикер не добавлен | наклейку не додано | nálepka vynechána | nálepka vynechaná | pominięto naklejkę",
    "matrica kihagyva | naljepnica izostavljena | adhesiu omès | αυτοκόλλητο παραλήφθηκε | çıkartma dahil edilmedi",
    "stiker tidak disertakan | pelekat tidak disertakan | đã bỏ sticker | סטיקר הושמט | تم حذف الملصقات | استیکر حذف شد",
    "स्टिकर छोड़ा गया | स्टिकर वगळले | ไม่มีสติกเกอร์ | 스티커 제외됨 | スタンプは含まれていません | 貼圖已略去 | 貼圖已忽略 | 贴图已省略",
  ),
  file: list(
    "document omitted | dokument weggelassen | documento omitido | document omis | document manquant | documento omesso",
    "documento não revelado | document weggelaten | dokument uteslutet | dokument udeladt | utelatt dokument | dokumenttia ei sisällytetä",
    "документ отсутствует | документ пропущено | dokument vynechán | dokument vynechaný | dokument pominięty | dokumentum kihagyva",
    "dokument izostavljen | document omès | έγγραφο παραλείφθηκε | belge dahil edilmedi | dokumen tidak disertakan | dokumen tidak dimasukkan",
    "đã bỏ qua tài liệu | מסמך הושמט | لم يتم إدراج المستند | سند حذف شد | डॉक्यूमेंट छोड़ा गया | डॉक्युमेंट वगळले | ละเว้นเอกสาร",
    "문서 생략됨 | ドキュメントは含まれていません | 文件已略去 | 文件已忽略 | 文档已省略",
  ),
  contact: list(
    "contact card omitted | kontaktkarte ausgelassen | tarjeta de contacto omitida | fiche contact manquante | scheda contatto omessa",
    "cartão do contato omitido | contacto não revelado | visitekaartje weggelaten | kontaktkort uteslutet | kontaktkort udeladt",
    "kontaktkort sløyfet | yhteystietokortti jätettiin pois | карточка контакта отсутствует | картка контакту відсутня",
    "vizitka vynechána | karta kontaktu vynechaná | pominięta wizytówka kontaktu | carte de vizită contact omisă | névjegykártya kihagyva",
    "posjetnica izostavljena | targeta de contacte omesa | η κάρτα επαφής παραλήφθηκε | kişi kartı dahil edilmedi",
    "kartu kontak tidak disertakan | kad kenalan tidak dimasukkan | bỏ qua thẻ liên lạc | כרטיס איש קשר הושמט",
    "لم يتم إدراج بطاقة جهة اتصال | برگ مخاطب حذف شد | कॉन्टैक्ट कार्ड छोड़ा गया | संपर्क कार्ड वगळले | บัตรรายชื่อที่ละเว้น",
    "연락처 카드 생략됨 | 連絡先カードを省略 | 聯絡人卡片已略去 | 聯絡人卡片已省略 | 联系人卡片已忽略",
  ),
};

/** In parentheses after a file name. */
export const ATTACHED = list(
  "file attached | datei angehängt | archivo adjunto | archivo adjuntado | fichier joint | file allegato | arquivo anexado",
  "ficheiro anexado | bestand bijgevoegd | lêer aangeheg | fil bifogad | bifogad fil | fil vedhæftet | vedlagt fil | tiedosto liitetty",
  "liitetiedosto | файл добавлен | файл додано | прикачен файл | прикачен фајл | прикачена датотека | soubor byl přiložen",
  "súbor pripojený | załączono plik | załączony plik | fișier atașat | fájl csatolva | datoteka u privitku | priložena datoteka",
  "arxiu adjunt | fail lisatud | pievienots fails | συνημμένο αρχείο | dosya ekli | fayl əlavə olunub | file terlampir",
  "fail dilampirkan | tệp đính kèm | קובץ מצורף | ملف مرفق | الملف مرفق | پیوستہ فائل | फ़ाइल संलग्न है | फाइल संलग्न",
  "फाइल अटैच कर दी गई है | ফাইল সংযুক্ত হয়েছে | ไฟล์ที่แนบ | 첨부 파일 | 파일 첨부됨 | 添付ファイル | 添付ファイル有り",
  "檔案已附加 | 附件檔案 | 文件附件",
);

export const DELETED = list(
  "this message was deleted | you deleted this message | diese nachricht wurde gelöscht | du hast diese nachricht gelöscht",
  "se eliminó este mensaje | eliminaste este mensaje | ce message a été supprimé | vous avez supprimé ce message",
  "questo messaggio è stato eliminato | hai eliminato questo messaggio | esta mensagem foi apagada | mensagem apagada",
  "você apagou esta mensagem | dit bericht is verwijderd | данное сообщение удалено | вы удалили данное сообщение",
);

export const MISSED_CALLS = list(
  "missed voice call | missed video call | missed group voice call | missed group video call | verpasster sprachanruf",
  "verpasster videoanruf | llamada perdida | videollamada perdida | appel vocal manqué | appel vidéo manqué",
  "chiamata vocale persa | chamada de voz perdida | gemiste spraakoproep | пропущенный аудиозвонок",
);

/** Only valid with the mark of the app, since people type these too. */
export const CALLS = list(
  "voice call | video call | group voice call | group video call | group call | silenced voice call | silenced video call",
  "sprachanruf | videoanruf | llamada | videollamada | appel vocal | appel vidéo | chiamata vocale | videochiamata",
  "chamada de voz | chamada de vídeo | spraakoproep | video-oproep | аудиозвонок | видеозвонок | äänipuhelu | videopuhelu",
  "röstsamtal | videosamtal | taleopkald | videoopkald",
);

export const LIVE_LOCATIONS = list(
  "live location shared | live-standort wird geteilt | ubicación en tiempo real compartida | localisation en direct partagée",
  "posizione attuale condivisa | localização atual compartilhada | live locatie gedeeld | live-sijainti jaettu | liveposition delad",
  "live placering delt | posisjon i sanntid delt | משתף מיקום בשידור חי | 공유한 실시간 위치 | ライブロケーション共有",
);

export const EDITED = list(
  "this message was edited | diese nachricht wurde bearbeitet | se editó este mensaje | ce message a été modifié",
  "questo messaggio è stato modificato | mensagem editada",
);
